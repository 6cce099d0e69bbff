// Reads units as reports print them: one spelling (UCUM's, where it has one), what kind of quantity it is, and the factor to the base unit
// of that kind. The reported text stays as it is next to it. Pure.
import { fixed, unit, type Unit, type UnitKind } from './unit-spellings.ts'

export type { Unit, UnitKind } from './unit-spellings.ts'

const PREFIXES: Record<string, number> = {
  '': 1,
  k: 1e3,
  d: 1e-1,
  c: 1e-2,
  m: 1e-3,
  u: 1e-6,
  n: 1e-9,
  p: 1e-12,
  f: 1e-15,
  a: 1e-18,
}
const VOLUMES: Record<string, number> = {
  l: 1,
  dl: 0.1,
  cl: 0.01,
  ml: 1e-3,
  ul: 1e-6,
  nl: 1e-9,
  fl: 1e-15,
  cc: 1e-3,
  mm3: 1e-6,
  cmm: 1e-6,
  cumm: 1e-6,
  cmm3: 1e-6,
}
const VOLUME_CANONICAL: Record<string, string> = { cc: 'mL', mm3: 'uL', cmm: 'uL', cumm: 'uL', cmm3: 'uL' }
const AREAS: Record<string, string> = {
  hpf: '/[HPF]',
  lpf: '/[LPF]',
  hp: '/[HPF]',
  lp: '/[LPF]',
  field: '/[HPF]',
  highpowerfield: '/[HPF]',
  lowpowerfield: '/[LPF]',
}
const DAY = /^(?:24h|24hr|24hrs|24hour|24hours|d|day|24\.h|\(24\.h\)|24hrurine|tv)$/

/** One spelling of the text: lower case, no blanks, ASCII. */
const fold = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[µμ]/g, 'u')
    .replace(/[×✕]/g, 'x')
    .replace(/[∙·⋅]/g, '')
    .replace(/[−–]/g, '-')
    .replace(/⁄|∕/g, '/')
    .replace(/\bper\b/g, '/')
    .replace(/(micro|nano|pico|milli)(?=gram|mol)/g, (prefix) => (prefix === 'micro' ? 'u' : prefix[0]!))
    .replace(/(?<=[munp])grams?\b/g, 'g')
    .replace(/mcg/g, 'ug')
    .replace(/\bgm(s)?\b/g, 'g')
    .replace(/mcl|microlit(?:er|re)/g, 'ul')
    .replace(/millilit(?:er|re)/g, 'ml')
    .replace(/\blit(?:er|re)\b/g, 'l')
    .replace(/\s+/g, '')
    .replace(/ui(?=\/)/g, 'iu')
    // Units of an antibody against an allergen.
    .replace(/^kua(?=\/l)/, 'ku')
    .replace(/\*{2}/g, '^')

/** Counts: "10^3/uL", "x10E3/µL", "x E9/L", "K/uL", "thou/mm3", "10*9/L", "/cumm", "lakhs/cumm", "cells/uL". */
function countOf(text: string): Unit | undefined {
  const match =
    /^(?:x?(?:10(?:[\^*e~]|exp)?|e)\(?(\d{1,2})\)?|(k|thou|thous|thousand|thousands|th|tsd|m|mil|mill|mill?ions?|million|lakhs?|b|bil|g))?(?:cells?|wbcs?|rbcs?|platelets?|#|no\.?|sperm|copies|cp|{copies})?\/(ul|mm3|mm\^3|cmm|cumm|cu\.?mm\.?|cmm3|ml|l|dl|nl)$/.exec(
      text,
    )
  if (!match) return undefined
  const [, power, word, volume = ''] = match
  if (power === undefined && word === 'g' && volume !== 'nl') return undefined
  const named: Record<string, number> = { k: 3, t: 3, m: 6, l: 5, b: 9, g: 9 }
  const exponent = power !== undefined ? Number(power) : word ? named[word[0]!]! : 0
  if (exponent > 15) return undefined
  const per = volume.replace(/[\^.]/g, '').replace(/^cumm$/, 'cumm')
  const copies = /cop|cp/.test(text) ? '{copies}' : ''
  const canonicalVolume = VOLUME_CANONICAL[per] ?? per.replace('l', 'L')
  const count = exponent === 0 ? copies : `10*${exponent}`
  return unit(`${count}/${canonicalVolume}`, 'count_volume', 10 ** exponent / VOLUMES[per]!)
}

/** `AU` and `CU` are units of assays, not atto- or centi-units of an enzyme. */
const NUMERATOR =
  /^(?:([kmunp]?)(u|iu|\[iu\]|units?)|([kdcmunpfa]?)(g|mol|mole|moles|eq|osm|osmol|osmole|kat|l)|()(au|cu|du|arbu|ru|\[arb'u\]|eu|biu))$/
const CREATININE = /^(m?g|m?mol|mol)(?:\{?(?:creat|cr|crea|creatinine|creat\.)\}?)?$/

function quotientOf(text: string): Unit | undefined {
  const [top = '', ...below] = text.replace(/\{?(?:feu|ddu)\}?/g, '').split('/')
  const match = NUMERATOR.exec(top)
  if (!match || below.length === 0) return undefined
  const prefix = match[1] ?? match[3] ?? ''
  const base = (match[2] ?? match[4] ?? match[6])!
    .replace(/^moles?$/, 'mol')
    .replace(/^osmole?$/, 'osm')
    .replace(/^units?$/, 'u')
  const scale = PREFIXES[prefix]!
  const bottom = below[0]!
  if (base === 'l') return readClearance(prefix, scale, below)
  if (below.length > 1)
    return base === 'g' && /^h(?:r|our)?$/.test(below[1]!) && bottom === 'ml'
      ? unit(`${prefix}g/mL/h`, 'catalytic_volume')
      : undefined
  if (DAY.test(bottom)) {
    if (base === 'g') return unit(`${prefix}g/(24.h)`, 'mass_time', scale)
    return base === 'mol' || base === 'eq' ? unit(`${prefix}${base}/(24.h)`, 'substance_time', scale) : undefined
  }
  const volume = VOLUMES[bottom]
  if (volume !== undefined) {
    const per = VOLUME_CANONICAL[bottom] ?? bottom.replace('l', 'L')
    if (base === 'g') return unit(`${prefix}g/${per}`, 'mass_volume', scale / volume)
    if (base === 'mol' || base === 'eq') return unit(`${prefix}${base}/${per}`, 'substance_volume', scale / volume)
    if (base === 'osm') return unit(`${prefix}osm/${per}`, 'osmolality', scale / volume)
    if (base === 'kat') return unit(`${prefix}kat/${per}`, 'catalytic_volume', (scale * 6e7) / volume)
    if (base === 'u') return unit(`${prefix}U/${per}`, 'catalytic_volume', scale / volume)
    if (base === 'iu' || base === '[iu]') return unit(`${prefix}[IU]/${per}`, 'arbitrary_volume', scale / volume)
    return unit(`[arb'U]/${per}`, 'arbitrary_volume')
  }
  if (base === 'osm' && bottom.startsWith('kg')) return unit(`${prefix}osm/kg`, 'osmolality', scale)
  if (base === 'u' && /^g\{?(?:hb|hgb)\}?$/.test(bottom)) return unit('U/g{Hb}', 'mass_mass', scale)
  if (base === 'g' && (bottom === 'kg' || (bottom === 'g' && prefix === 'u')))
    return unit(`${prefix}g/${bottom}`, 'mass_mass', scale / (bottom === 'kg' ? 1000 : 1))
  const creatinine = CREATININE.exec(bottom)
  if (creatinine && (base === 'g' || base === 'mol'))
    return unit(`${prefix}${base}/${creatinine[1]!}{creat}`, 'creatinine_ratio', null)
  return undefined
}

function readClearance(prefix: string, scale: number, denominators: string[]): Unit | undefined {
  const minutes = /^min(?:ute)?(?:\(?)(.*)$/.exec(denominators[0]!)
  if (!minutes) return undefined
  const rest = `${minutes[1]}${denominators.slice(1).join('/')}`
  const isArea = /1[.,]73/.test(rest)
  if (rest !== '' && !isArea) return undefined
  return isArea ? unit(`${prefix}L/min/{1.73_m2}`, 'clearance', scale * 1000) : unit(`${prefix}L/min`, 'clearance', scale * 1000)
}

/**
 * Reads a unit in any usual spelling. "G/L" and "G/l" are ambiguous (grams, or 10*9 cells): both readings come back, grams second. Returns an empty
 * list for what is not recognized; it stays text. At most 40 characters are read.
 */
export function readUnit(text: string | null | undefined): Unit[] {
  const trimmed = (text ?? '').trim()
  if (trimmed === '' || trimmed.length > 40) return []
  const folded = fold(trimmed)
  if (/^G\/[Ll]$/.test(trimmed)) return [unit('10*9/L', 'count_volume', 1e9), unit('g/L', 'mass_volume', 1)]
  const area = /^(?:#|no\.?|cells?|rbcs?|wbcs?|casts?)?\/(.+)$/.exec(folded)?.[1]?.replace(/[[\].]/g, '')
  if (area !== undefined && AREAS[area]) return [unit(AREAS[area], 'count_area', 1)]
  const bare = folded.replace(/\.$/, '')
  const found =
    fixed(bare) ??
    countOf(bare) ??
    quotientOf(bare) ??
    (/^[({]?log/.test(bare) ? unit('log{copies}/mL', 'logarithmic') : undefined) ??
    fixed(bare.replace(/[(){}[\]'._]/g, '')) ??
    (/^\(?calc\)?|\(calc\)$/.test(bare) ? quotientOf(bare.replace(/\(?calc\)?/g, '')) : undefined)
  if (!found) return []
  // Grams of ratios: "mg/g" of urine are per gram of creatinine; catalytic and international units are printed alike.
  return [found]
}

/** The kinds of units that fit a LOINC property. */
export const kindsOfProperty: Readonly<Record<string, readonly UnitKind[]>> = {
  MCnc: ['mass_volume'],
  SCnc: ['substance_volume'],
  ACnc: ['arbitrary_volume', 'catalytic_volume', 'index'],
  CCnc: ['catalytic_volume', 'arbitrary_volume'],
  NCnc: ['count_volume'],
  Naric: ['count_area'],
  NFr: ['fraction'],
  MFr: ['fraction', 'ratio'],
  SFr: ['fraction', 'ratio'],
  VFr: ['fraction'],
  CFr: ['fraction'],
  RelACnc: ['fraction', 'ratio'],
  RelMCnc: ['fraction', 'ratio'],
  RelCCnc: ['fraction', 'ratio'],
  RelTime: ['ratio', 'fraction'],
  RelRto: ['ratio'],
  MRto: ['creatinine_ratio', 'ratio', 'mass_mass'],
  SRto: ['ratio', 'creatinine_ratio'],
  Ratio: ['ratio', 'creatinine_ratio', 'fraction'],
  NRto: ['ratio', 'fraction'],
  CRto: ['ratio'],
  TRto: ['ratio'],
  MoM: ['ratio'],
  MCnt: ['mass_mass', 'creatinine_ratio'],
  CCnt: ['mass_mass'],
  MRat: ['mass_time'],
  SRat: ['substance_time'],
  EntVol: ['entitic_volume'],
  EntMass: ['entitic_mass'],
  Time: ['time'],
  PPres: ['pressure'],
  Osmol: ['osmolality'],
  ArVRat: ['clearance'],
  VRat: ['clearance'],
  Vel: ['velocity'],
  Vol: ['volume'],
  LsCnc: ['ph', 'logarithmic'],
  LaCnc: ['logarithmic'],
  Rden: ['ratio'],
  Titr: ['titer', 'ratio'],
}

/** Properties whose numbers may be printed without a unit. */
export const unitlessProperties: ReadonlySet<string> = new Set(
  'Ratio MRto SRto NRto CRto TRto RelTime RelRto MoM LsCnc Rden Titr ACnc Num Visc'.split(' '),
)

/** Converts a number between two units of one kind; undefined if that is not possible. */
export function convert(value: number, unit: Unit, target: Unit): number | undefined {
  if (unit.canonical === target.canonical) return value
  if (unit.kind !== target.kind || unit.factor === null || target.factor === null) return undefined
  return (value * unit.factor) / target.factor
}
