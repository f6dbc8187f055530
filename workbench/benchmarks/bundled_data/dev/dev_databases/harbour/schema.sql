CREATE TABLE owner (
    owner_id INTEGER PRIMARY KEY,
    oname TEXT NOT NULL,
    ctry TEXT,
    city TEXT,
    okind TEXT,
    since TEXT,
    cr TEXT,
    fleet INTEGER
);
CREATE TABLE vessel (
    imo INTEGER PRIMARY KEY,
    vname TEXT NOT NULL,
    flag TEXT,
    vtype TEXT NOT NULL,
    loa REAL,
    beam REAL,
    draught REAL,
    gt INTEGER,
    dwt INTEGER,
    built INTEGER,
    owner_id INTEGER,
    "Ice Class" TEXT,
    scrub INTEGER,
    FOREIGN KEY (owner_id) REFERENCES owner (owner_id)
);
CREATE TABLE berth (
    berth_no TEXT PRIMARY KEY,
    quay TEXT NOT NULL,
    len_m INTEGER NOT NULL,
    max_dr REAL,
    crane REAL,
    sp INTEGER,
    surveyed TEXT
);
CREATE TABLE pilot (
    pilot_id INTEGER PRIMARY KEY,
    full_name TEXT NOT NULL,
    class INTEGER,
    mentor_id INTEGER,
    born INTEGER,
    lic_from TEXT,
    lic_to TEXT,
    st TEXT,
    FOREIGN KEY (mentor_id) REFERENCES pilot (pilot_id)
);
CREATE TABLE tug (
    tug_id INTEGER PRIMARY KEY,
    tname TEXT NOT NULL,
    bp INTEGER,
    built INTEGER,
    stn TEXT,
    st TEXT,
    draught REAL
);
CREATE TABLE commodity (
    comm TEXT PRIMARY KEY,
    cdesc TEXT,
    cgrp TEXT
);
CREATE TABLE port_call (
    call_id INTEGER PRIMARY KEY,
    imo INTEGER NOT NULL,
    berth_no TEXT,
    pilot_id INTEGER,
    from_port TEXT,
    to_port TEXT,
    eta TEXT,
    ata TEXT,
    etd TEXT,
    atd TEXT,
    st TEXT,
    arr_dr REAL,
    dues REAL,
    waste REAL,
    paid_on TEXT,
    agent TEXT,
    remarks TEXT,
    FOREIGN KEY (imo) REFERENCES vessel (imo),
    FOREIGN KEY (berth_no) REFERENCES berth (berth_no),
    FOREIGN KEY (pilot_id) REFERENCES pilot (pilot_id)
);
CREATE TABLE cargo (
    cargo_id INTEGER PRIMARY KEY,
    call_id INTEGER,
    dir TEXT,
    comm TEXT,
    t REAL,
    units INTEGER,
    imdg TEXT,
    cons TEXT,
    FOREIGN KEY (call_id) REFERENCES port_call (call_id),
    FOREIGN KEY (comm) REFERENCES commodity (comm)
);
CREATE TABLE tug_job (
    call_id INTEGER,
    tug_id INTEGER,
    mv TEXT,
    mins INTEGER,
    charge REAL,
    PRIMARY KEY (call_id, tug_id, mv),
    FOREIGN KEY (call_id) REFERENCES port_call (call_id),
    FOREIGN KEY (tug_id) REFERENCES tug (tug_id)
);
CREATE TABLE inspection (
    insp_id INTEGER PRIMARY KEY,
    imo INTEGER,
    idate TEXT,
    itype TEXT,
    inspector TEXT,
    res TEXT,
    n_def INTEGER,
    n_open INTEGER,
    areas TEXT,
    next_due TEXT
);
