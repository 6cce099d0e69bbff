// Formats of postal codes, by the two-letter code of the country. Source: Universal Postal Union, addressing systems.

const digits = (count: number): RegExp => new RegExp(`^\\d{${count}}$`)
const grouped = /^\d{3} ?\d{2}$/

const forms: Record<string, RegExp> = {
  ...Object.fromEntries(['AT', 'BE', 'BG', 'CH', 'CY', 'DK', 'HU', 'LI', 'NO', 'SI'].map((code) => [code, digits(4)])),
  ...Object.fromEntries(['DE', 'EE', 'ES', 'FI', 'FR', 'HR', 'IT'].map((code) => [code, digits(5)])),
  ...Object.fromEntries(['CZ', 'GR', 'SE', 'SK'].map((code) => [code, grouped])),
  AU: digits(4),
  CA: /^[ABCEGHJ-NPRSTVXY]\d[A-Z] ?\d[A-Z]\d$/,
  GB: /^[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}$/,
  IE: /^[A-Z]\d[\dW] ?[A-Z\d]{4}$/,
  IS: digits(3),
  LT: /^(LT-)?\d{5}$/,
  LU: /^(L-)?\d{4}$/,
  LV: /^(LV-)?\d{4}$/,
  MT: /^[A-Z]{3} ?\d{4}$/,
  NL: /^[1-9]\d{3} ?[A-Z]{2}$/,
  PL: /^\d{2}-\d{3}$/,
  PT: /^\d{4}-\d{3}$/,
  RO: digits(6),
  US: /^\d{5}(-\d{4})?$/,
}
/** The format in all other countries. */
const anywhere = /^[A-Z\d][A-Z\d -]{1,14}$/

/** Whether a text, in upper case, has the format of a country's postal codes. */
export const isPostalCode = (country: string | undefined, text: string): boolean =>
  ((country !== undefined && forms[country]) || anywhere).test(text)
