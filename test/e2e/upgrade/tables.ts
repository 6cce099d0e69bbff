// What the test that upgrades a release, and the program that prints a release's rows for it, know of the tables.

/** The schemas that are upgraded. */
export const SCHEMAS = ['control', 'sandbox_us'] as const

/** Tables of reference data, by their names before and after migration 0058. Not compared, because each release loads its own rows. */
export const referenceTables: ReadonlySet<string> = new Set([
  'lab',
  'analyte',
  'marker',
  'marker_analyte',
  'catalog_data_version',
  'catalog_load',
  'payor',
  'icd_code',
  'icd_exclusion',
  'insurance_data_version',
  'insurance_load',
  'psc_site',
  'psc_directory_version',
  'psc_directory',
])
