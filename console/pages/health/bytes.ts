// Sizes in words.

const UNITS = ['kB', 'MB', 'GB', 'TB'] as const

/** A number of bytes by its largest unit of 1,000, for example `12.3 MB`. */
export function formatBytes(bytes: number): string {
  let [value, unit] = [bytes, 'B']
  for (const next of UNITS) {
    if (Math.abs(value) < 1000) break
    ;[value, unit] = [value / 1000, next]
  }
  return `${unit === 'B' || value >= 100 ? Math.round(value) : value.toFixed(1)} ${unit}`
}
