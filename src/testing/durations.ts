// Durations as tests write them.

const UNIT_S: Record<string, number> = { second: 1, minute: 60, hour: 3600, day: 86_400, week: 604_800 }

/**
 * `'2 days'`, `'1 hour 30 minutes'` or a number of seconds as whole seconds. Units: second, minute, hour, day and week, singular or plural.
 * @throws TypeError for anything else, and for no time at all
 */
export function toSeconds(duration: string | number): number {
  const seconds = typeof duration === 'number' ? duration : parse(duration)
  if (!Number.isInteger(seconds) || seconds <= 0)
    throw new TypeError(`${JSON.stringify(duration)} must be a positive number of seconds, or a text such as "2 days"`)
  return seconds
}

function parse(text: string): number {
  const parts = [...text.trim().matchAll(/(\d+) *(second|minute|hour|day|week)s?(?: +|$)/gy)]
  if (parts.map(([part]) => part).join('') !== text.trim()) return Number.NaN
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNIT_S[unit!]!, 0)
}
