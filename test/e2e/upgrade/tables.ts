// What the test that upgrades a release, and the program that prints a release's rows for it, know of the tables.

/** The schemas that are upgraded. */
export const SCHEMAS = ['control', 'sandbox_us'] as const

/** Tables of reference data. Each release loads its own rows into them, so that they are not compared. */
export const referenceTables: ReadonlySet<string> = new Set([
  'lab',
  'analyte',
  'marker',
  'marker_analyte',
  'catalog_load',
  'payor',
  'icd_code',
  'icd_exclusion',
  'insurance_load',
  'psc_site',
  'psc_directory',
])
