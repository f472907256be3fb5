//! The status of every error of the library.

use corecast::base::region::{AttachError, BadName, CreateError, Forked, RegionPlanError};
use corecast::base::rendezvous::RendezvousError;
use corecast::channel::OpenChannelError;
use corecast::channel::mcast::AddEndError;
use corecast::channel::select::SelectError;
use corecast::channel::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError};
use corecast::collective::acknowledged::AckError;
use corecast::collective::{BuildError, Error as GroupError};
use corecast::lock::shared::{DeclareError, OpenError as OpenLockError, SharedLockError};
use corecast::lock::{UnknownLock, WrongUse};
use corecast::processes::{FoundError, JoinError};
use corecast::replica::{CheckpointError, ExecuteError, OpenError as OpenReplicaError, ReadError};
use corecast::tm::{OpenError as OpenTmError, RunError};

use crate::error::Failure;
use crate::status::Status;

/// An error without a better status than this, in its own words.
macro_rules! always {
    ($($error:ty => $status:ident),* $(,)?) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::new(Status::$status, error.to_string())
            }
        })*
    };
}

always! {
    BadName => InvalidArgument,
    BuildError => InvalidArgument,
    DeclareError => InvalidArgument,
    RegionPlanError => InvalidArgument,
    Forked => Forked,
    UnknownLock => NotFound,
    std::io::Error => System,
}

impl From<CreateError> for Failure {
    fn from(error: CreateError) -> Self {
        let status = match error {
            CreateError::Plan(_) | CreateError::BadName(_) => Status::InvalidArgument,
            CreateError::Exists(_) => Status::Exists,
            CreateError::Attach(error) => return error.into(),
            _ => Status::System,
        };
        Self::new(status, error.to_string())
    }
}

impl From<AttachError> for Failure {
    fn from(error: AttachError) -> Self {
        let status = match error {
            AttachError::BadName(_) => Status::InvalidArgument,
            AttachError::NotFound(_) => Status::NotFound,
            AttachError::Closed(_) => Status::Closed,
            AttachError::Busy(_) => Status::Taken,
            AttachError::System { .. } => Status::System,
            _ => Status::Mismatch,
        };
        Self::new(status, error.to_string())
    }
}

impl From<RendezvousError> for Failure {
    fn from(error: RendezvousError) -> Self {
        let status = match error {
            RendezvousError::BadName(_) | RendezvousError::PathTooLong { .. } => Status::InvalidArgument,
            RendezvousError::Exists(_) => Status::Exists,
            RendezvousError::NotFound(_) => Status::NotFound,
            RendezvousError::TimedOut(_) => Status::Timeout,
            RendezvousError::NotOurs { .. } => Status::Mismatch,
            RendezvousError::TurnedAway(_) => Status::Taken,
            RendezvousError::Attach(error) => return error.into(),
            _ => Status::System,
        };
        Self::new(status, error.to_string())
    }
}

impl From<OpenChannelError> for Failure {
    fn from(error: OpenChannelError) -> Self {
        let status = match error {
            OpenChannelError::NoChannel(_) => Status::NotFound,
            OpenChannelError::Taken { .. } => Status::Taken,
            OpenChannelError::Closed { .. } => Status::Closed,
            OpenChannelError::Died { .. } => Status::Died,
            OpenChannelError::Forked(_) => Status::Forked,
            OpenChannelError::Policy { .. } => return Self::argument("policy", error),
            _ => Status::Mismatch,
        };
        Self::new(status, error.to_string())
    }
}

impl From<AddEndError> for Failure {
    fn from(error: AddEndError) -> Self {
        let status = if error == AddEndError::Forked { Status::Forked } else { Status::Taken };
        Self::new(status, error.to_string())
    }
}

impl From<GroupError> for Failure {
    #[cold]
    fn from(error: GroupError) -> Self {
        let status = match error {
            GroupError::MemberLost { .. } => Status::Lost,
            GroupError::Mismatched { .. } => Status::OutOfStep,
            GroupError::AlreadyJoined { .. } => Status::Taken,
            GroupError::Timeout { .. } => Status::Timeout,
            GroupError::Forked => Status::Forked,
            GroupError::Memory(_) => Status::System,
            GroupError::TooLarge { .. } | GroupError::TooLong { .. } => Status::TooLarge,
            GroupError::Corrupt => Status::Corrupt,
            _ => Status::InvalidArgument,
        };
        Self::new(status, error.to_string())
    }
}

impl From<WrongUse> for Failure {
    #[cold]
    fn from(error: WrongUse) -> Self {
        let status = if error == WrongUse::Held { Status::Taken } else { Status::InvalidArgument };
        Self::new(status, error.to_string())
    }
}

impl From<OpenLockError> for Failure {
    fn from(error: OpenLockError) -> Self {
        let status = match error {
            OpenLockError::NoLock(_) => Status::NotFound,
            OpenLockError::Forked(_) => Status::Forked,
            _ => Status::Mismatch,
        };
        Self::new(status, error.to_string())
    }
}

/// Frees a lock that was taken from a dead holder: a caller that keeps the lock handles this error itself.
impl From<SharedLockError<'_>> for Failure {
    fn from(error: SharedLockError<'_>) -> Self {
        let status = match error {
            SharedLockError::WouldBlock => Status::Taken,
            SharedLockError::Timeout => Status::Timeout,
            SharedLockError::Forked(_) => Status::Forked,
            _ => Status::OwnerDied,
        };
        Self::new(status, error.to_string())
    }
}

impl From<AckError> for Failure {
    #[cold]
    fn from(error: AckError) -> Self {
        let status = match error {
            AckError::Group(error) => return error.into(),
            AckError::TooLarge { .. } => Status::TooLarge,
            AckError::Disagreement => Status::Mismatch,
            AckError::WindowFull { .. } => Status::Full,
            AckError::Timeout { .. } => Status::Timeout,
            AckError::Corrupt { .. } => Status::Corrupt,
            _ => Status::InvalidArgument,
        };
        Self::new(status, error.to_string())
    }
}

impl From<JoinError> for Failure {
    fn from(error: JoinError) -> Self {
        let status = match error {
            JoinError::Attach(error) => return error.into(),
            JoinError::Meet(error) => return error.into(),
            JoinError::Member(error) => return error.into(),
            JoinError::Found(FoundError::Build(_)) | JoinError::Environment { .. } => Status::InvalidArgument,
            JoinError::NoGroup | JoinError::Size { .. } => Status::Mismatch,
            JoinError::Corrupt(_) => Status::Corrupt,
            JoinError::SetupTimeout { .. } => Status::Timeout,
            _ => Status::System,
        };
        Self::new(status, error.to_string())
    }
}

impl From<OpenReplicaError> for Failure {
    fn from(error: OpenReplicaError) -> Self {
        let status = match error {
            OpenReplicaError::Config(_) => Status::InvalidArgument,
            OpenReplicaError::Create(error) => return error.into(),
            OpenReplicaError::Attach(error) => return error.into(),
            OpenReplicaError::Rendezvous(error) => return error.into(),
            OpenReplicaError::Version(_) => Status::Mismatch,
            OpenReplicaError::NoSlot(_) => Status::Taken,
            OpenReplicaError::NotTakenIn(_) => Status::Timeout,
            OpenReplicaError::Lost => Status::Died,
            OpenReplicaError::Poisoned(_) => Status::Poisoned,
            OpenReplicaError::Forked(_) => Status::Forked,
            _ => Status::System,
        };
        Self::new(status, error.to_string())
    }
}

impl From<ExecuteError> for Failure {
    #[cold]
    fn from(error: ExecuteError) -> Self {
        let status = match error {
            ExecuteError::Unknown { .. } => Status::Unknown,
            ExecuteError::SessionExpired => Status::Expired,
            ExecuteError::Expelled(_) => Status::Expelled,
            ExecuteError::Full(_) | ExecuteError::NoRoom => Status::Full,
            ExecuteError::TooLarge { .. } => Status::TooLarge,
            ExecuteError::NoMajority => Status::NoMajority,
            ExecuteError::Poisoned { .. } => Status::Poisoned,
            ExecuteError::Diverged { .. } => Status::Diverged,
            ExecuteError::Corrupt { .. } => Status::Corrupt,
            ExecuteError::Forked(_) => Status::Forked,
            ExecuteError::Lost => Status::Died,
            _ => Status::System,
        };
        Self::new(status, error.to_string())
    }
}

impl From<ReadError> for Failure {
    #[cold]
    fn from(error: ReadError) -> Self {
        let status = match error {
            ReadError::Lagging { .. } => Status::Lagging,
            ReadError::Expelled(_) | ReadError::Panicked { .. } => Status::Expelled,
            ReadError::Poisoned { .. } => Status::Poisoned,
            ReadError::Diverged { .. } => Status::Diverged,
            ReadError::Forked(_) => Status::Forked,
            ReadError::Lost => Status::Died,
            _ => Status::System,
        };
        Self::new(status, error.to_string())
    }
}

impl From<CheckpointError> for Failure {
    fn from(error: CheckpointError) -> Self {
        match error {
            CheckpointError::Cut(error) => error.into(),
            error => Self::new(Status::System, error.to_string()),
        }
    }
}

impl From<OpenTmError> for Failure {
    fn from(error: OpenTmError) -> Self {
        let status = match error {
            OpenTmError::Create(error) => return error.into(),
            OpenTmError::Attach(error) => return error.into(),
            OpenTmError::Rendezvous(error) => return error.into(),
            OpenTmError::Channel(error) => return error.into(),
            OpenTmError::Version(_) | OpenTmError::Section(_) => Status::Mismatch,
            OpenTmError::Taken(_) => Status::Taken,
            OpenTmError::Poisoned { .. } => Status::Poisoned,
            OpenTmError::Thread { .. } => Status::System,
            OpenTmError::Forked(_) => Status::Forked,
            _ => Status::InvalidArgument,
        };
        Self::new(status, error.to_string())
    }
}

impl From<RunError> for Failure {
    #[cold]
    fn from(error: RunError) -> Self {
        let status = match error {
            RunError::Poisoned { .. } => Status::Poisoned,
            RunError::Full { .. } => Status::Full,
            RunError::Stopped => Status::Closed,
            RunError::Channel(_) => Status::Corrupt,
            RunError::Forked(_) => Status::Forked,
            _ => Status::InvalidArgument,
        };
        Self::new(status, error.to_string())
    }
}

impl<T> From<TrySendError<T>> for Failure {
    #[inline]
    fn from(error: TrySendError<T>) -> Self {
        match error {
            TrySendError::Failed(error) => error.into(),
            _ => Self::new(Status::Full, "the channel is full"),
        }
    }
}

impl<T> From<SendTimeoutError<T>> for Failure {
    fn from(error: SendTimeoutError<T>) -> Self {
        match error {
            SendTimeoutError::Failed(error) => error.into(),
            _ => Self::new(Status::Timeout, "the channel stayed full until the deadline"),
        }
    }
}

impl<T> From<SendError<T>> for Failure {
    #[cold]
    fn from(error: SendError<T>) -> Self {
        let status = match error {
            SendError::Closed(_) => Status::Closed,
            SendError::Died(_) => Status::Died,
            SendError::TooLarge { .. } => Status::TooLarge,
            SendError::Corrupt { .. } => Status::Corrupt,
            SendError::Forked(_) => Status::Forked,
            _ => Status::System,
        };
        Self::new(status, error.to_string())
    }
}

impl From<TryRecvError> for Failure {
    #[inline]
    fn from(error: TryRecvError) -> Self {
        match error {
            TryRecvError::Failed(error) => error.into(),
            _ => Self::new(Status::Empty, "the channel is empty"),
        }
    }
}

impl From<RecvTimeoutError> for Failure {
    fn from(error: RecvTimeoutError) -> Self {
        match error {
            RecvTimeoutError::Failed(error) => error.into(),
            _ => Self::new(Status::Timeout, "the channel stayed empty until the deadline"),
        }
    }
}

impl From<RecvError> for Failure {
    #[cold]
    fn from(error: RecvError) -> Self {
        let status = match error {
            RecvError::Closed => Status::Closed,
            RecvError::Died => Status::Died,
            RecvError::Lagged { .. } => Status::Lagged,
            RecvError::Corrupt(_) => Status::Corrupt,
            RecvError::Forked => Status::Forked,
            _ => Status::System,
        };
        let missed = if let RecvError::Lagged { missed } = error { missed } else { 0 };
        Self { missed, ..Self::new(status, error.to_string()) }
    }
}

impl From<SelectError> for Failure {
    #[inline]
    fn from(error: SelectError) -> Self {
        match error {
            SelectError::Empty => Self::new(Status::Empty, "the channels are empty"),
            SelectError::Timeout => Self::new(Status::Timeout, "the channels stayed empty until the deadline"),
            SelectError::Channel { error, .. } => error.into(),
            _ => Self::new(Status::NoneLeft, "no channel is left to receive from"),
        }
    }
}
