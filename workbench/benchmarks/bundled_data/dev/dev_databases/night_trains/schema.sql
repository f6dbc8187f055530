CREATE TABLE station (
    stn_cd TEXT PRIMARY KEY,
    stn_name TEXT NOT NULL,
    city TEXT NOT NULL,
    ctry TEXT NOT NULL,
    served TEXT,
    lckr INTEGER,
    lounge TEXT,
    brd_22 INTEGER
);
CREATE TABLE line (
    ln_no INTEGER PRIMARY KEY,
    ln_name TEXT NOT NULL,
    orig TEXT NOT NULL,
    dest TEXT NOT NULL,
    km INTEGER,
    jrny_min INTEGER,
    season TEXT,
    start_yr TEXT,
    end_dt TEXT,
    n_stops INTEGER,
    FOREIGN KEY (orig) REFERENCES station (stn_cd),
    FOREIGN KEY (dest) REFERENCES station (stn_cd)
);
CREATE TABLE stop (
    ln_no INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    stn_cd TEXT NOT NULL,
    arr TEXT,
    dep TEXT,
    day_off INTEGER,
    kind TEXT,
    km_cum INTEGER,
    PRIMARY KEY (ln_no, seq),
    FOREIGN KEY (ln_no) REFERENCES line (ln_no),
    FOREIGN KEY (stn_cd) REFERENCES station (stn_cd)
);
CREATE TABLE departure (
    dep_id INTEGER PRIMARY KEY,
    ln_no INTEGER NOT NULL,
    run_dt TEXT NOT NULL,
    st TEXT NOT NULL,
    dly_dep INTEGER,
    dly_arr INTEGER,
    cause TEXT,
    end_stn TEXT,
    n_wag INTEGER,
    rmk TEXT,
    FOREIGN KEY (ln_no) REFERENCES line (ln_no),
    FOREIGN KEY (end_stn) REFERENCES station (stn_cd)
);
CREATE TABLE wagon (
    wag_no TEXT PRIMARY KEY,
    series TEXT NOT NULL,
    wname TEXT,
    berths INTEGER,
    shwr INTEGER,
    built INTEGER,
    refurb TEXT,
    depot TEXT,
    stat TEXT,
    acc TEXT
);
CREATE TABLE staff (
    emp_id INTEGER PRIMARY KEY,
    fname TEXT NOT NULL,
    lname TEXT NOT NULL,
    job TEXT NOT NULL,
    base TEXT,
    langs TEXT,
    hired TEXT NOT NULL,
    left_dt TEXT,
    mentor INTEGER,
    FOREIGN KEY (base) REFERENCES station (stn_cd),
    FOREIGN KEY (mentor) REFERENCES staff (emp_id)
);
CREATE TABLE roster (
    dep_id INTEGER NOT NULL,
    emp_id INTEGER NOT NULL,
    duty TEXT,
    hrs_pl REAL,
    hrs_act REAL,
    PRIMARY KEY (dep_id, emp_id),
    FOREIGN KEY (dep_id) REFERENCES departure (dep_id),
    FOREIGN KEY (emp_id) REFERENCES staff (emp_id)
);
CREATE TABLE passenger (
    pax_id INTEGER PRIMARY KEY,
    fname TEXT NOT NULL,
    lname TEXT NOT NULL,
    born TEXT,
    home TEXT,
    card TEXT,
    card_since TEXT,
    lang TEXT,
    diet TEXT
);
CREATE TABLE booking (
    bk_id INTEGER PRIMARY KEY,
    pax_id INTEGER NOT NULL,
    dep_id INTEGER NOT NULL,
    wag_no TEXT,
    berth TEXT,
    cls TEXT NOT NULL,
    from_stn TEXT NOT NULL,
    to_stn TEXT NOT NULL,
    fare_std REAL,
    fare_pd REAL,
    bkd_on TEXT,
    chan TEXT,
    st TEXT,
    refund REAL,
    bfast TEXT,
    FOREIGN KEY (pax_id) REFERENCES passenger (pax_id),
    FOREIGN KEY (dep_id) REFERENCES departure (dep_id),
    FOREIGN KEY (from_stn) REFERENCES station (stn_cd),
    FOREIGN KEY (to_stn) REFERENCES station (stn_cd)
);
CREATE TABLE complaint (
    cmp_id INTEGER PRIMARY KEY,
    bk_id INTEGER NOT NULL,
    recv TEXT,
    topic TEXT,
    clm_amt REAL,
    pd_amt REAL,
    closed TEXT,
    emp_id INTEGER,
    txt TEXT,
    FOREIGN KEY (bk_id) REFERENCES booking (bk_id),
    FOREIGN KEY (emp_id) REFERENCES staff (emp_id)
);
