// Units that phones and files name, and the factors to the unit of each timeseries. Source: Apple's export.xml; users-wearables.md 16.7.

const mass = { kg: 1, g: 0.001, mg: 1e-6, mcg: 1e-9, lb: 0.45359237, st: 6.35029318, oz: 0.028349523125 }
const length = { m: 1, km: 1000, cm: 0.01, mm: 0.001, mi: 1609.344, ft: 0.3048, yd: 0.9144, in: 0.0254 }
/** `Cal` is the kilocalorie of food labels, `cal` a thousandth of it. */
const energy = { kcal: 1, Cal: 1, cal: 0.001, kJ: 1 / 4.184, J: 0.001 / 4.184 }
const volume = {
  mL: 1,
  L: 1000,
  dL: 100,
  cL: 10,
  fl_oz_us: 29.5735295625,
  fl_oz_imp: 28.4130625,
  cup_us: 236.5882365,
  cup_imp: 284.130625,
  pt_us: 473.176473,
  pt_imp: 568.26125,
}
const time = { min: 1, s: 1 / 60, ms: 1 / 60_000, hr: 60, h: 60, d: 1440 }

const scaleUnits = (units: Record<string, number>, scale: number): Record<string, number> =>
  Object.fromEntries(Object.entries(units).map(([unit, factor]) => [unit, factor * scale]))

/** By dimension, the units and their factors to the canonical one. */
export const dimensions = {
  kilogram: mass,
  gram: scaleUnits(mass, 1000),
  microgram: scaleUnits(mass, 1e9),
  meter: length,
  centimeter: scaleUnits(length, 100),
  kilocalorie: energy,
  milliliter: volume,
  liter: scaleUnits(volume, 0.001),
  literPerMinute: { 'L/min': 1, 'mL/min': 0.001, 'L/s': 60 },
  minute: time,
  second: scaleUnits(time, 60),
  millisecond: scaleUnits(time, 60_000),
  perMinute: { 'count/min': 1, 'count/s': 60, 'count/hr': 1 / 60, bpm: 1 },
  count: { count: 1, IU: 1 },
  index: { count: 1, index: 1, 'count/hr': 1 },
  /** Fractions of 1 as well, see `percent`. */
  percent: { '%': 1 },
  pressure: { mmHg: 1, kPa: 7.500615758456564, hPa: 0.7500615758456564, cmAq: 0.7355592400690826 },
  oxygen: { 'mL/min·kg': 1, 'mL/kg·min': 1, 'mL/kg/min': 1, 'mL/(kg*min)': 1 },
  glucose: { 'mmol/L': 1, 'mg/dL': 1 / 18.0182, 'mg/L': 0.1 / 18.0182, 'g/L': 100 / 18.0182 },
  celsius: { degC: 1, '°C': 1 },
} as const satisfies Record<string, Record<string, number>>
export type Dimension = keyof typeof dimensions

/** Pairs of another name of a unit, in lower case with `_` between words, and its name in `dimensions`. */
const pairs = (text: string): ReadonlyMap<string, string> =>
  new Map(text.split(/,\s+/).map((pair) => pair.split(' ') as [string, string]))

const spellings: Partial<Record<Dimension, ReadonlyMap<string, string>>> = {
  percent: pairs('percent %'),
  celsius: pairs('c °C, celsius °C, degrees_celsius °C, f °F, fahrenheit °F, degrees_fahrenheit °F, kelvin K, kelvins K'),
  pressure: pairs('millimeters_of_mercury mmHg, millimetres_of_mercury mmHg, mm_hg mmHg, mm[hg] mmHg'),
  // The client for iOS counts the index of ultraviolet light.
  index: pairs('count index, kg/m² index, kg/m^2 index, kg/m2 index'),
  kilogram: pairs('kilograms kg, grams g, pounds lb, lbs lb, stones st, stone st, ounces oz'),
  gram: pairs('grams g, milligrams mg, micrograms mcg, ug mcg, μg mcg, µg mcg, kilograms kg'),
  microgram: pairs('grams g, milligrams mg, micrograms mcg, ug mcg, μg mcg, µg mcg, kilograms kg'),
  kilocalorie: pairs('kilocalories kcal, kilojoules kJ, joules J'),
  minute: pairs('minutes min, mins min, seconds s, sec s, hours h, milliseconds ms, days d'),
  millisecond: pairs('milliseconds ms, seconds s, rmssd ms, sdnn ms'),
  meter: pairs(
    'meters m, metres m, kilometers km, kilometres km, centimeters cm, centimetres cm, miles mi, feet ft, yards yd, inches in',
  ),
  centimeter: pairs('centimeters cm, centimetres cm, meters m, metres m, millimeters mm, inches in, feet ft'),
  milliliter: pairs('milliliters mL, millilitres mL, liters L, litres L, fluid_ounces_us fl_oz_us, cups_us cup_us'),
  liter: pairs('liters L, litres L, milliliters mL, millilitres mL'),
  literPerMinute: pairs('liters_per_minute L/min, litres_per_minute L/min, liters_per_second L/s, litres_per_second L/s'),
  perMinute: pairs(
    'beats/min bpm, beats_per_minute bpm, breaths/min bpm, breaths_per_minute bpm, rpm bpm, /min bpm, 1/min bpm, hz count/s',
  ),
  oxygen: pairs(
    'ml/min/kg mL/kg/min, ml/kg*min mL/kg/min, milliliters_per_kilogram_per_minute mL/kg/min, milliliters_per_minute_kilogram mL/kg/min',
  ),
  glucose: pairs(
    'milligrams_per_deciliter mg/dL, milligrams_per_decilitre mg/dL, mg_per_dl mg/dL, mgdl mg/dL, millimoles_per_liter mmol/L, millimoles_per_litre mmol/L, mmol_per_l mmol/L, mmoll mmol/L',
  ),
}

/** What makes a value of a unit one of the unit of its resource: `value * factor + offset`. */
export interface Conversion {
  factor: number
  offset: number
}

/** Temperatures whose zero is another one. */
export const temperatures: Readonly<Record<string, Conversion>> = {
  degF: { factor: 5 / 9, offset: -160 / 9 },
  '°F': { factor: 5 / 9, offset: -160 / 9 },
  K: { factor: 1, offset: -273.15 },
}

/** The unit of a dimension that a text names, in any letter case unless that makes another unit of it, as of `Cal` and `cal`. */
export function unitNamed(dimension: Dimension, text: string): string | undefined {
  const units = [...Object.keys(dimensions[dimension]), ...(dimension === 'celsius' ? Object.keys(temperatures) : [])]
  if (units.includes(text)) return text
  const lower = text.toLowerCase()
  const alias = lower.replace(/[\s_-]+/g, '_')
  // In the singular, too: `meter`, `minute`.
  const known = spellings[dimension]?.get(alias) ?? spellings[dimension]?.get(`${alias}s`)
  if (known !== undefined) return known
  const alike = units.filter((unit) => unit.toLowerCase() === lower)
  return alike.length === 1 ? alike[0] : undefined
}
