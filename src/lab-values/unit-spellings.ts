// Kinds of units, and the spellings that follow no grammar. Pure.

/** Kinds of quantities, as far as they tell terms apart. */
export type UnitKind =
  | 'mass_volume' // g/L
  | 'substance_volume' // mol/L
  | 'catalytic_volume' // U/L, kat/L
  | 'arbitrary_volume' // IU/L, units of one assay
  | 'count_volume' // 10*9/L
  | 'count_area' // per field of a microscope
  | 'fraction' // %
  | 'ifcc_fraction' // mmol/mol of hemoglobin
  | 'ratio'
  | 'creatinine_ratio' // mg/g, mg/mmol
  | 'mass_mass'
  | 'mass_time' // per 24 h
  | 'substance_time'
  | 'entitic_volume' // fL
  | 'entitic_mass' // pg
  | 'time'
  | 'pressure'
  | 'osmolality'
  | 'clearance' // mL/min
  | 'velocity' // mm/h
  | 'volume'
  | 'logarithmic'
  | 'titer'
  | 'index'
  | 'ph'

export interface Unit {
  /** In the spelling of UCUM. */
  canonical: string
  kind: UnitKind
  /** Multiplies a value into the base unit of its kind: g/L, mol/L, U/L, /L, 1, s, … Null if values of the kind have no common base. */
  factor: number | null
}

export const unit = (canonical: string, kind: UnitKind, factor: number | null = null): Unit => ({ canonical, kind, factor })

/** Spellings that follow no grammar. The keys are folded. */
const FIXED: Record<string, Unit> = {
  '%': unit('%', 'fraction', 0.01),
  percent: unit('%', 'fraction', 0.01),
  pct: unit('%', 'fraction', 0.01),
  'g%': unit('g/dL', 'mass_volume', 10),
  'gm%': unit('g/dL', 'mass_volume', 10),
  'mg%': unit('mg/dL', 'mass_volume', 0.01),
  'mgs%': unit('mg/dL', 'mass_volume', 0.01),
  'ug%': unit('ug/dL', 'mass_volume', 1e-5),
  '%ofhgb': unit('%', 'fraction', 0.01),
  '%oftotal': unit('%', 'fraction', 0.01),
  '%oftotalhgb': unit('%', 'fraction', 0.01),
  '%hb': unit('%', 'fraction', 0.01),
  '%ngsp': unit('%', 'fraction', 0.01),
  '%calc': unit('%', 'fraction', 0.01),
  '%(calc)': unit('%', 'fraction', 0.01),
  '%normal': unit('%', 'fraction', 0.01),
  '%activity': unit('%', 'fraction', 0.01),
  '%act': unit('%', 'fraction', 0.01),
  '%baseline': unit('%', 'fraction', 0.01),
  '%wbc': unit('%', 'fraction', 0.01),
  'l/l': unit('L/L', 'fraction', 1),
  'mmol/mol': unit('mmol/mol', 'ifcc_fraction', 1),
  'mmol/molhb': unit('mmol/mol', 'ifcc_fraction', 1),
  'mmol/molhgb': unit('mmol/mol', 'ifcc_fraction', 1),
  '%bywt': unit('%', 'fraction', 0.01),
  ratio: unit('{ratio}', 'ratio', 1),
  '(calc)': unit('{ratio}', 'ratio', 1),
  calc: unit('{ratio}', 'ratio', 1),
  inr: unit('{INR}', 'ratio', 1),
  's/co': unit('{s_co_ratio}', 'ratio', 1),
  sco: unit('{s_co_ratio}', 'ratio', 1),
  mom: unit('{MoM}', 'ratio', 1),
  index: unit('{index}', 'index'),
  indexvalue: unit('{index}', 'index'),
  indexval: unit('{index}', 'index'),
  iv: unit('{index}', 'index'),
  ai: unit('{index}', 'index'),
  isr: unit('{index}', 'index'),
  lai: unit('{index}', 'index'),
  coi: unit('{index}', 'index'),
  odratio: unit('{index}', 'index'),
  titer: unit('{titer}', 'titer'),
  titre: unit('{titer}', 'titer'),
  ph: unit('[pH]', 'ph', 1),
  phunits: unit('[pH]', 'ph', 1),
  '[ph]': unit('[pH]', 'ph', 1),
  fl: unit('fL', 'entitic_volume', 1),
  um3: unit('fL', 'entitic_volume', 1),
  pg: unit('pg', 'entitic_mass', 1),
  'pg/cell': unit('pg', 'entitic_mass', 1),
  fmol: unit('fmol', 'entitic_mass', null),
  s: unit('s', 'time', 1),
  sec: unit('s', 'time', 1),
  secs: unit('s', 'time', 1),
  second: unit('s', 'time', 1),
  seconds: unit('s', 'time', 1),
  min: unit('min', 'time', 60),
  mins: unit('min', 'time', 60),
  minute: unit('min', 'time', 60),
  minutes: unit('min', 'time', 60),
  mmhg: unit('mm[Hg]', 'pressure', 1),
  torr: unit('mm[Hg]', 'pressure', 1),
  'mm[hg]': unit('mm[Hg]', 'pressure', 1),
  kpa: unit('kPa', 'pressure', 7.50062),
  'mm/h': unit('mm/h', 'velocity', 1),
  'mm/hr': unit('mm/h', 'velocity', 1),
  'mm/hour': unit('mm/h', 'velocity', 1),
  'mm/1hr': unit('mm/h', 'velocity', 1),
  'mm/1sthr': unit('mm/h', 'velocity', 1),
  mm1sthr: unit('mm/h', 'velocity', 1),
  'mm/1sthour': unit('mm/h', 'velocity', 1),
  mmat1hr: unit('mm/h', 'velocity', 1),
  mmin1hr: unit('mm/h', 'velocity', 1),
  mm1sthour: unit('mm/h', 'velocity', 1),
  mm: unit('mm', 'velocity', 1),
  '/hpf': unit('/[HPF]', 'count_area', 1),
  '/lpf': unit('/[LPF]', 'count_area', 1),
  '/100wbc': unit('/100{WBCs}', 'ratio', 1),
  '/100wbcs': unit('/100{WBCs}', 'ratio', 1),
  per100wbc: unit('/100{WBCs}', 'ratio', 1),
  '#/100wbc': unit('/100{WBCs}', 'ratio', 1),
  'nrbc/100wbc': unit('/100{WBCs}', 'ratio', 1),
  'ehrlichu/dl': unit('[EU]/dL', 'arbitrary_volume'),
  'eu/dl': unit('[EU]/dL', 'arbitrary_volume'),
  gpl: unit("[GPL'U]", 'arbitrary_volume'),
  mpl: unit("[MPL'U]", 'arbitrary_volume'),
  apl: unit("[APL'U]", 'arbitrary_volume'),
  'gplu/ml': unit("[GPL'U]/mL", 'arbitrary_volume'),
  'mplu/ml': unit("[MPL'U]/mL", 'arbitrary_volume'),
  'aplu/ml': unit("[APL'U]/mL", 'arbitrary_volume'),
  'gplunits/ml': unit("[GPL'U]/mL", 'arbitrary_volume'),
  u: unit("[arb'U]", 'arbitrary_volume'),
  units: unit("[arb'U]", 'arbitrary_volume'),
  au: unit("[arb'U]", 'arbitrary_volume'),
  arbu: unit("[arb'U]", 'arbitrary_volume'),
  gplu: unit("[GPL'U]", 'arbitrary_volume'),
  mplu: unit("[MPL'U]", 'arbitrary_volume'),
  aplu: unit("[APL'U]", 'arbitrary_volume'),
  bethu: unit("[beth'U]", 'arbitrary_volume'),
  'bethu/ml': unit("[beth'U]/mL", 'arbitrary_volume'),
  bu: unit("[beth'U]", 'arbitrary_volume'),
  scoratio: unit('{s_co_ratio}', 'ratio', 1),
  spgr: unit('{sp_gr}', 'ratio', 1),
  odunit: unit('{index}', 'index'),
  'nmol/min/ml': unit('nmol/min/mL', 'catalytic_volume'),
  'u/u': unit('U/U', 'ratio', 1),
  'ug/min': unit('ug/min', 'mass_time', 1.44e-3),
  fiu: unit("[arb'U]", 'arbitrary_volume'),
  'g/g': unit('g/g', 'ratio', 1),
  'mg/mg': unit('mg/mg', 'ratio', 1),
  'mol/mol': unit('mol/mol', 'ratio', 1),
  't/l': unit('10*12/L', 'count_volume', 1e12),
  'tera/l': unit('10*12/L', 'count_volume', 1e12),
  'giga/l': unit('10*9/L', 'count_volume', 1e9),
  'gpt/l': unit('10*9/L', 'count_volume', 1e9),
  'tpt/l': unit('10*12/L', 'count_volume', 1e12),
  'mio/ul': unit('10*6/uL', 'count_volume', 1e12),
  ml: unit('mL', 'volume', 1e-3),
  l: unit('L', 'volume', 1),
  cc: unit('mL', 'volume', 1e-3),
}

/** The unit of a folded spelling, if it is one of those. */
export const fixed = (text: string): Unit | undefined => (Object.hasOwn(FIXED, text) ? FIXED[text] : undefined)
