//! The extension module of the Python package `corecast`.

mod borrowed;
mod buffer_ffi;
mod error;
mod exported;
mod group;
mod hand;
mod lag;
mod machine;
mod meeting;
mod number;
mod publisher;
mod receiver;
mod replicated;
mod replicated_group;
mod replicated_member;
mod room;
mod sender;
mod store;
mod subscriber;
mod waiting;
mod watch;

use pyo3::prelude::*;

/// The alignment that the interpreter's memory has, where its objects are.
const OBJECT_ALIGNMENT: usize = 16;
const _: () = assert!(align_of::<group::Place>() <= OBJECT_ALIGNMENT);
const _: () = assert!(align_of::<publisher::Publisher>() <= OBJECT_ALIGNMENT);
const _: () = assert!(align_of::<receiver::Receiver>() <= OBJECT_ALIGNMENT);
const _: () = assert!(align_of::<replicated::Replicated>() <= OBJECT_ALIGNMENT);
const _: () = assert!(align_of::<room::Room>() <= OBJECT_ALIGNMENT);
const _: () = assert!(align_of::<sender::Sender>() <= OBJECT_ALIGNMENT);
const _: () = assert!(align_of::<subscriber::Subscriber>() <= OBJECT_ALIGNMENT);

#[pymodule]
fn _corecast(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("Message", exported::class(module.py())?)?;
    module.add_class::<group::Place>()?;
    module.add_class::<publisher::Publisher>()?;
    module.add_class::<receiver::Receiver>()?;
    module.add_class::<replicated::Replicated>()?;
    module.add_class::<room::Room>()?;
    module.add_class::<sender::Sender>()?;
    module.add_class::<subscriber::Subscriber>()?;
    module.add_function(wrap_pyfunction!(machine::machine_text, module)?)?;
    module.add_function(wrap_pyfunction!(machine::measure_text, module)?)?;
    module.add_function(wrap_pyfunction!(machine::plan_texts, module)?)?;
    module.add_function(wrap_pyfunction!(store::store_socket, module)?)
}
