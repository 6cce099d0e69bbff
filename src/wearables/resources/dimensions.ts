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

const scaled = (units: Record<string, number>, by: number): Record<string, number> =>
  Object.fromEntries(Object.entries(units).map(([unit, factor]) => [unit, factor * by]))

/** By dimension, the units and their factors to the canonical one. */
export const dimensions = {
  kilogram: mass,
  gram: scaled(mass, 1000),
  microgram: scaled(mass, 1e9),
  meter: length,
  centimeter: scaled(length, 100),
  kilocalorie: energy,
  milliliter: volume,
  liter: scaled(volume, 0.001),
  literPerMinute: { 'L/min': 1, 'mL/min': 0.001, 'L/s': 60 },
  minute: time,
  second: scaled(time, 60),
  millisecond: scaled(time, 60_000),
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
