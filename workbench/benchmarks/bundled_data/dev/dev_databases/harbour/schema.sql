CREATE TABLE berth (
    berth_no TEXT PRIMARY KEY,
    quay TEXT NOT NULL,
    len_m INTEGER NOT NULL,
    max_dr REAL
);
CREATE TABLE vessel (
    imo INTEGER PRIMARY KEY,
    vname TEXT NOT NULL,
    flag TEXT,
    vtype TEXT NOT NULL,
    loa REAL NOT NULL,
    built INTEGER
);
CREATE TABLE pilot (
    pilot_id INTEGER PRIMARY KEY,
    full_name TEXT NOT NULL,
    class INTEGER NOT NULL,
    mentor_id INTEGER REFERENCES pilot
);
CREATE TABLE port_call (
    call_id INTEGER PRIMARY KEY,
    imo INTEGER NOT NULL REFERENCES vessel (imo),
    berth_no TEXT REFERENCES berth (berth_no),
    pilot_id INTEGER REFERENCES pilot (pilot_id),
    eta TEXT NOT NULL,
    ata TEXT,
    st TEXT NOT NULL,
    dues REAL
);
