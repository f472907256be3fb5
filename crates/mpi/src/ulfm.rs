//! Failed processes, where the library goes on without them: the extension ULFM of Open MPI from version 5 on.
//!
//! Open MPI exports the functions whether or not its launcher was told to tolerate failures, and they do nothing without; the
//! tool variable `mpi_ft_enable` tells. Source: Bland et al., Post-failure recovery of MPI communication capability, IJHPCA 2013.

use std::ffi::{c_int, c_void};
use std::ptr;

use crate::abi::{Abi, Handle, SUCCESS};
use crate::error::MpiError;
use crate::library::Library;

impl Library {
    /// True if the library goes on after the death of a process; otherwise the reason why it does not.
    pub(crate) fn survives_deaths(&self) -> Result<(), &'static str> {
        if self.constants.abi != Abi::OpenMpi {
            return Err("only Open MPI from version 5 on survives the death of a process");
        }
        if self.functions.comm_shrink.is_none() || self.functions.comm_failure_get_acked.is_none() {
            return Err("this Open MPI was built without ULFM, which versions from 5 on have");
        }
        match self.tool_variable(c"mpi_ft_enable") {
            Some(0) | None => Err("ULFM is there and not enabled: start with `mpirun --with-ft ulfm`"),
            Some(_) => Ok(()),
        }
    }

    /// The value of a tool variable that is a flag or a number; `None` if the library has no such one.
    fn tool_variable(&self, name: &std::ffi::CStr) -> Option<c_int> {
        let functions = &self.functions;
        let (init, index_of) = (functions.t_init_thread?, functions.t_cvar_get_index?);
        let (allocate, read, end) = (functions.t_cvar_handle_alloc?, functions.t_cvar_read?, functions.t_finalize?);
        let mut provided = 0;
        // SAFETY: may be called at any time; a place for the answer.
        if unsafe { init(0, &mut provided) } != SUCCESS {
            return None;
        }
        let (mut index, mut handle, mut count, mut value) = (0, ptr::null_mut::<c_void>(), 0, [0; 16]);
        // SAFETY: a text, and a place for the answer.
        let mut code = unsafe { index_of(name.as_ptr(), &mut index) };
        if code == SUCCESS {
            // SAFETY: an index that was found, of a variable that belongs to no object.
            code = unsafe { allocate(index, ptr::null_mut(), &mut handle, &mut count) };
        }
        if code == SUCCESS && count == 1 {
            // SAFETY: a handle of a variable with one element, and room for one of any type.
            code = unsafe { read(handle, value.as_mut_ptr().cast()) };
        }
        // SAFETY: pairs with the call above.
        let _ = unsafe { end() };
        (code == SUCCESS && count == 1).then_some(value[0])
    }

    /// The ranks of a communicator that have failed, as far as this process knows; it acknowledges them.
    pub(crate) fn failed_ranks(&self, comm: Handle) -> Vec<usize> {
        let (Some(acknowledge), Some(acknowledged)) =
            (self.functions.comm_failure_ack, self.functions.comm_failure_get_acked)
        else {
            return Vec::new();
        };
        let mut failed: Handle = 0;
        // SAFETY: a communicator of this library.
        let mut code = unsafe { acknowledge(comm) };
        if code == SUCCESS {
            // SAFETY: the same, and a place for the answer.
            code = unsafe { acknowledged(comm, &mut failed) };
        }
        if code != SUCCESS {
            return Vec::new();
        }
        let ranks = self.ranks_of(failed, comm).unwrap_or_default();
        self.free_group(failed);
        ranks
    }

    /// The ranks that the members of a group have in a communicator.
    fn ranks_of(&self, group: Handle, comm: Handle) -> Result<Vec<usize>, MpiError> {
        let mut size = 0;
        // SAFETY: a group of this library, and a place for the answer.
        self.check("MPI_Group_size", unsafe { (self.functions.group_size)(group, &mut size) })?;
        let all = self.group_of(comm)?;
        let of_group: Vec<c_int> = (0..size).collect();
        let mut of_comm = vec![-1; of_group.len()];
        let translate = self.functions.group_translate_ranks;
        // SAFETY: two groups of this library, and room for as many ranks as are asked for.
        let code = unsafe { translate(group, size, of_group.as_ptr(), all, of_comm.as_mut_ptr()) };
        self.free_group(all);
        self.check("MPI_Group_translate_ranks", code)?;
        Ok(of_comm.into_iter().filter_map(|rank| usize::try_from(rank).ok()).collect())
    }

    fn group_of(&self, comm: Handle) -> Result<Handle, MpiError> {
        let mut group: Handle = 0;
        // SAFETY: a communicator of this library, and a place for the answer.
        self.check("MPI_Comm_group", unsafe { (self.functions.comm_group)(comm, &mut group) })?;
        Ok(group)
    }

    fn free_group(&self, mut group: Handle) {
        // SAFETY: a group of this library that is not used again.
        let _ = unsafe { (self.functions.group_free)(&mut group) };
    }

    /// Ends all operations on a communicator, at all of its processes.
    pub(crate) fn revoke(&self, comm: Handle) {
        if let Some(revoke) = self.functions.comm_revoke {
            // SAFETY: a communicator of this library.
            let _ = unsafe { revoke(comm) };
        }
    }

    /// True if this value is true at all processes of a communicator that live: all get the same answer, whoever dies meanwhile.
    /// All have to call it, also if it is revoked.
    pub(crate) fn agree(&self, comm: Handle, own: bool, is_over: &mut dyn FnMut() -> bool) -> Result<bool, MpiError> {
        const CALL: &str = "MPIX_Comm_iagree";
        let Some(agree) = self.functions.comm_iagree else { return Ok(own) };
        // Leaked if somebody is late: the library may still use it.
        let flag: *mut c_int = Box::leak(Box::new(c_int::from(own)));
        let begun = self.begin(CALL, |request| {
            // SAFETY: a communicator of this library, and a flag and a place for the request, which stay until it is done.
            unsafe { agree(comm, flag, request) }
        })?;
        let done = self.finish_unless(begun, is_over);
        // An error tells of processes that have died, of which the callers learn from their next operation.
        if done.as_ref().is_ok_and(|is_done| !is_done) {
            return Err(MpiError::left_behind(CALL));
        }
        done.map(drop).or_else(|error| if error.is_failure { Ok(()) } else { Err(error) })?;
        // SAFETY: leaked above, and no request uses it any more.
        Ok(*unsafe { Box::from_raw(flag) } != 0)
    }

    /// A communicator of those processes of another one that live, and their ranks there. All of them have to call it.
    pub(crate) fn shrink(&self, comm: Handle) -> Result<(Handle, Vec<usize>), MpiError> {
        let shrink = self.functions.comm_shrink.expect("only libraries that survive deaths are asked");
        let mut made: Handle = 0;
        // SAFETY: a communicator of this library, and a place for the answer.
        self.check("MPIX_Comm_shrink", unsafe { shrink(comm, &mut made) })?;
        self.return_errors(made)?;
        let group = self.group_of(made)?;
        let ranks = self.ranks_of(group, comm);
        self.free_group(group);
        Ok((made, ranks?))
    }
}
