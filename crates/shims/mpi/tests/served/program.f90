! Barriers, broadcasts, reductions and allgathers of a Fortran program, in place and not.
program served
    call run_served()
end program served

subroutine run_served()
    use mpi
    implicit none
    integer :: rank, ranks, ierror, round, place, total, parts(64), i
    double precision :: values(4), sums(4)

    call MPI_INIT(ierror)
    call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierror)
    call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierror)
    do round = 1, 200
        place = merge(round, -1, rank == 0)
        call MPI_BCAST(place, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
        if (place /= round .or. ierror /= MPI_SUCCESS) stop 3
        call MPI_BARRIER(MPI_COMM_WORLD, ierror)
        if (ierror /= MPI_SUCCESS) stop 4
        call MPI_REDUCE(place, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
        if (rank == 0 .and. total /= ranks * round) stop 5
        values = rank
        call MPI_ALLREDUCE(values, sums, 4, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
        if (any(sums /= ranks * (ranks - 1) / 2)) stop 6
        call MPI_ALLREDUCE(MPI_IN_PLACE, values, 4, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierror)
        if (any(values /= ranks - 1)) stop 7
        call MPI_ALLGATHER(rank, 1, MPI_INTEGER, parts, 1, MPI_INTEGER, MPI_COMM_WORLD, ierror)
        if (any(parts(1:ranks) /= [(i, i = 0, ranks - 1)])) stop 8
        parts = -1
        parts(rank + 1) = rank * round
        call MPI_ALLGATHER(MPI_IN_PLACE, 0, MPI_INTEGER, parts, 1, MPI_INTEGER, MPI_COMM_WORLD, ierror)
        if (any(parts(1:ranks) /= [(i * round, i = 0, ranks - 1)])) stop 9
    end do
    call MPI_FINALIZE(ierror)
    if (rank == 0) print *, 'ok'
end subroutine run_served
