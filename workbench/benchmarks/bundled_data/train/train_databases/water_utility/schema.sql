CREATE TABLE zone (
    zone_cd TEXT PRIMARY KEY,
    zname TEXT NOT NULL,
    src TEXT NOT NULL,
    elev_m INTEGER,
    pop_est INTEGER,
    mains_km REAL,
    press_m INTEGER,
    leak_tgt INTEGER
);
CREATE TABLE staff (
    emp_id INTEGER PRIMARY KEY,
    fname TEXT NOT NULL,
    sname TEXT NOT NULL,
    job TEXT NOT NULL,
    depot TEXT,
    hired TEXT NOT NULL,
    left_dt TEXT,
    boss_id INTEGER,
    ext TEXT,
    FOREIGN KEY (boss_id) REFERENCES staff (emp_id)
);
CREATE TABLE customer (
    cust_no INTEGER PRIMARY KEY,
    sname TEXT NOT NULL,
    fname TEXT NOT NULL,
    org_name TEXT,
    cat TEXT NOT NULL,
    since TEXT NOT NULL,
    pay TEXT NOT NULL,
    prio TEXT,
    bal REAL NOT NULL,
    email TEXT
);
CREATE TABLE tariff (
    tariff_cd TEXT PRIMARY KEY,
    tname TEXT NOT NULL,
    stand_chg REAL NOT NULL,
    rate1 REAL,
    rate2 REAL,
    thresh_m3 INTEGER,
    valid_from TEXT,
    valid_to TEXT
);
CREATE TABLE connection (
    conn_id INTEGER PRIMARY KEY,
    cust_no INTEGER NOT NULL,
    zone_cd TEXT NOT NULL,
    hse_no TEXT,
    street TEXT,
    tariff_cd TEXT NOT NULL,
    conn_dt TEXT NOT NULL,
    disc_dt TEXT,
    pipe_mat TEXT,
    dia_mm INTEGER,
    meter_sn TEXT,
    mtr_make TEXT,
    mtr_type TEXT,
    mtr_fitted TEXT,
    FOREIGN KEY (cust_no) REFERENCES customer (cust_no),
    FOREIGN KEY (zone_cd) REFERENCES zone (zone_cd),
    FOREIGN KEY (tariff_cd) REFERENCES tariff (tariff_cd)
);
CREATE TABLE bill (
    bill_no INTEGER PRIMARY KEY,
    conn_id INTEGER NOT NULL,
    qtr TEXT NOT NULL,
    rdg_prev INTEGER,
    rdg_curr INTEGER,
    rdg_src TEXT,
    vol_m3 INTEGER,
    net_amt REAL NOT NULL,
    gross_amt REAL NOT NULL,
    iss_dt TEXT NOT NULL,
    due_dt TEXT NOT NULL,
    paid_dt TEXT,
    st TEXT NOT NULL,
    remind INTEGER NOT NULL,
    FOREIGN KEY (conn_id) REFERENCES connection (conn_id)
);
CREATE TABLE pump_station (
    ps_id INTEGER PRIMARY KEY,
    psname TEXT NOT NULL,
    zone_cd TEXT NOT NULL,
    comm_yr TEXT,
    n_pumps INTEGER,
    kw INTEGER,
    "Design Cap (m3/h)" INTEGER,
    "Avg Output (m3/h)" REAL,
    tele TEXT,
    emp_id INTEGER,
    FOREIGN KEY (zone_cd) REFERENCES zone (zone_cd),
    FOREIGN KEY (emp_id) REFERENCES staff (emp_id)
);
CREATE TABLE leak (
    leak_id INTEGER PRIMARY KEY,
    zone_cd TEXT NOT NULL,
    street TEXT,
    rep_dt TEXT NOT NULL,
    rep_src TEXT,
    sev INTEGER NOT NULL,
    loss_lpm REAL,
    main_mat TEXT,
    plan_dt TEXT,
    done_dt TEXT,
    st TEXT NOT NULL,
    cost_est REAL,
    cost_act REAL,
    remarks TEXT,
    FOREIGN KEY (zone_cd) REFERENCES zone (zone_cd)
);
CREATE TABLE leak_crew (
    leak_id INTEGER NOT NULL,
    emp_id INTEGER NOT NULL,
    role TEXT,
    hrs REAL,
    PRIMARY KEY (leak_id, emp_id),
    FOREIGN KEY (leak_id) REFERENCES leak (leak_id),
    FOREIGN KEY (emp_id) REFERENCES staff (emp_id)
);
CREATE TABLE wq_sample (
    samp_id INTEGER PRIMARY KEY,
    zone_cd TEXT NOT NULL,
    tap TEXT,
    taken TEXT NOT NULL,
    param TEXT NOT NULL,
    res REAL,
    unit TEXT,
    lim REAL,
    outc TEXT,
    lab TEXT,
    emp_id INTEGER,
    FOREIGN KEY (zone_cd) REFERENCES zone (zone_cd)
);
