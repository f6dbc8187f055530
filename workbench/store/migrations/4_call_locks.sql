ALTER TABLE claims RENAME TO call_locks
