// How units are printed, by their UCUM-like spelling. A layout names the spellings that are its own.
import type { ScaledUnit } from './language.ts'

const USUAL: Record<string, string> = {
  'ug/dL': 'ug/dL',
  'umol/L': 'umol/L',
  '{ratio}': '',
  '{INR}': '',
  '10*3/uL': 'x10E3/uL',
  '10*6/uL': 'x10E6/uL',
  '10*6/mL': 'million/mL',
  '[IU]/mL': 'IU/mL',
  '[IU]/L': 'IU/L',
  'm[IU]/mL': 'mIU/mL',
  'k[IU]/L': 'kU/L',
  'mm[Hg]': 'mmHg',
  'mm/h': 'mm/hr',
  s: 'sec',
}

/** For layouts of one country: spellings that go together. */
export const SPELLINGS = {
  uk: { '10*3/uL': '10*9/L', '10*6/uL': '10*12/L', 'mm/h': 'mm/hr', 'mL/min/1.73m2': 'mL/min/1.73m2', 'U/L': 'IU/L', s: 's' },
  ukPower: {
    '10*3/uL': 'x10^9/L',
    '10*6/uL': 'x10^12/L',
    'mL/min/1.73m2': 'mL/min',
    'umol/L': 'µmol/L',
    'ug/L': 'µg/L',
    'mm/h': 'mm/h',
  },
  usThousand: {
    '10*3/uL': 'Thousand/uL',
    '10*6/uL': 'Million/uL',
    'ug/dL': 'mcg/dL',
    '{ratio}': '(calc)',
    'mL/min/1.73m2': 'mL/min/1.73m2',
  },
  usK: { '10*3/uL': 'K/uL', '10*6/uL': 'M/uL', 'mm/h': 'mm/h', 'mL/min/1.73m2': 'mL/min/1.73 m2', s: 'seconds' },
  usMicro: { '10*3/uL': '10³/µL', '10*6/uL': '10⁶/µL', 'ug/dL': 'µg/dL', 'uIU/mL': 'µIU/mL' },
  indianCount: {
    '10*3/uL': { print: '/cumm', factor: 1000, decimals: 0, grouping: 'western' },
    '10*6/uL': 'mill/cumm',
    'ug/dL': 'µg/dL',
    'mm/h': 'mm/1st hr',
    'U/L': 'U/L',
  },
  indianLakh: {
    '10*3/uL': { print: 'cells/mm3', factor: 1000, decimals: 0, grouping: 'indian' },
    '10*6/uL': 'millions/cmm',
    'uIU/mL': 'µIU/ml',
    'mg/dL': 'mg/dl',
    'g/dL': 'gm/dl',
    'ng/mL': 'ng/ml',
    'pg/mL': 'pg/ml',
    'U/L': 'IU/L',
  },
  indianThousand: {
    '10*3/uL': '10^3/µl',
    '10*6/uL': '10^6/µl',
    'mg/dL': 'mg/dl',
    'g/dL': 'g/dl',
    'uIU/mL': 'uIU/ml',
    'mL/min/1.73m2': 'ml/min/1.73 m²',
  },
  plainThousand: { '10*3/uL': 'thou/mm3', '10*6/uL': 'mill/mm3', 'mm/h': 'mm/hr' },
} satisfies Record<string, Record<string, string | ScaledUnit>>

export function spelling(unit: string, ownSpellings: Record<string, string | ScaledUnit> | undefined): ScaledUnit | string {
  return ownSpellings?.[unit] ?? USUAL[unit] ?? unit
}

/** 7,500 or 2,45,000. */
export function group(digits: string, grouping: ScaledUnit['grouping']): string {
  if (!grouping) return digits
  return grouping === 'western' ? digits.replace(/\B(?=(\d{3})+$)/g, ',') : digits.replace(/\B(?=(\d{2})*\d{3}$)/g, ',')
}
