CREATE TABLE telescope (
    TelCode TEXT PRIMARY KEY,
    Name TEXT NOT NULL,
    D INTEGER,
    f_ratio REAL,
    mount TEXT,
    "Dome No" INTEGER,
    FirstLight TEXT,
    stat TEXT
);
CREATE TABLE instrument (
    inst_id INTEGER PRIMARY KEY,
    iname TEXT NOT NULL,
    kind TEXT,
    TelCode TEXT,
    detector TEXT,
    "Pixel size" REAL,
    cool INTEGER,
    yr_in INTEGER,
    yr_out INTEGER,
    fov REAL,
    FOREIGN KEY (TelCode) REFERENCES telescope (TelCode)
);
CREATE TABLE person (
    pid INTEGER PRIMARY KEY,
    forename TEXT,
    surname TEXT NOT NULL,
    affil TEXT,
    country TEXT,
    pos TEXT,
    since INTEGER,
    op_cert TEXT
);
CREATE TABLE night (
    night INTEGER PRIMARY KEY,
    dark_h REAL,
    moon INTEGER,
    cloud INTEGER,
    seeing REAL,
    hum INTEGER,
    wind INTEGER,
    lost_wx REAL,
    lost_tech REAL,
    open_h REAL,
    q TEXT,
    observer INTEGER,
    log TEXT,
    FOREIGN KEY (observer) REFERENCES person (pid)
);
CREATE TABLE proposal (
    code TEXT PRIMARY KEY,
    sem TEXT NOT NULL,
    title TEXT,
    pi INTEGER,
    cat TEXT,
    req_h INTEGER,
    alloc_h INTEGER,
    used_h REAL,
    score REAL,
    st TEXT,
    submitted TEXT,
    FOREIGN KEY (pi) REFERENCES person (pid)
);
CREATE TABLE prop_team (
    prop TEXT NOT NULL,
    pid INTEGER NOT NULL,
    role TEXT,
    PRIMARY KEY (prop, pid),
    FOREIGN KEY (prop) REFERENCES proposal (code),
    FOREIGN KEY (pid) REFERENCES person (pid)
);
CREATE TABLE target (
    targ_id INTEGER PRIMARY KEY,
    tname TEXT NOT NULL,
    alt_name TEXT,
    ttype TEXT,
    ra REAL,
    "dec" INTEGER,
    vmag REAL,
    con TEXT
);
CREATE TABLE exposure (
    exp_id INTEGER PRIMARY KEY,
    night INTEGER NOT NULL,
    ut TEXT,
    inst_id INTEGER NOT NULL,
    targ_id INTEGER,
    prop TEXT,
    typ TEXT,
    exp_s INTEGER,
    filt TEXT,
    airmass REAL,
    fwhm REAL,
    qc TEXT,
    FOREIGN KEY (night) REFERENCES night (night),
    FOREIGN KEY (inst_id) REFERENCES instrument (inst_id),
    FOREIGN KEY (targ_id) REFERENCES target (targ_id),
    FOREIGN KEY (prop) REFERENCES proposal (code)
);
CREATE TABLE fault (
    fault_id INTEGER PRIMARY KEY,
    night INTEGER,
    TelCode TEXT,
    inst_id INTEGER,
    sys TEXT,
    lost_min INTEGER,
    sev INTEGER,
    descr TEXT,
    rep_by INTEGER,
    closed DATE,
    FOREIGN KEY (night) REFERENCES night (night),
    FOREIGN KEY (TelCode) REFERENCES telescope (TelCode),
    FOREIGN KEY (inst_id) REFERENCES instrument (inst_id)
);
CREATE TABLE paper (
    paper_id INTEGER PRIMARY KEY,
    prop TEXT,
    yr INTEGER,
    journal TEXT,
    first_au INTEGER,
    cites INTEGER,
    oa TEXT,
    FOREIGN KEY (prop) REFERENCES proposal (code),
    FOREIGN KEY (first_au) REFERENCES person (pid)
);
