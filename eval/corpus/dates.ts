// Dates as laboratories print them.
const MONTHS = 'January February March April May June July August September October November December'.split(' ')

const two = (n: number) => String(n).padStart(2, '0')

/** Replaces YYYY YY MMMM MMM MM M DD D HH hh h mm A in a pattern. Months in capitals: MMM → `JAN` is written `UUU`. */
export function formatDate(date: Date, pattern: string): string {
  const month = MONTHS[date.getUTCMonth()]!
  const hours = date.getUTCHours()
  const parts: Record<string, string> = {
    YYYY: String(date.getUTCFullYear()),
    YY: two(date.getUTCFullYear() % 100),
    MMMM: month,
    MMM: month.slice(0, 3),
    UUU: month.slice(0, 3).toUpperCase(),
    MM: two(date.getUTCMonth() + 1),
    M: String(date.getUTCMonth() + 1),
    DD: two(date.getUTCDate()),
    D: String(date.getUTCDate()),
    HH: two(hours),
    hh: two(hours % 12 || 12),
    h: String(hours % 12 || 12),
    mm: two(date.getUTCMinutes()),
    A: hours < 12 ? 'AM' : 'PM',
  }
  return pattern.replace(/YYYY|YY|MMMM|MMM|UUU|MM|M|DD|D|HH|hh|h|mm|A/g, (part) => parts[part]!)
}

export const isoDay = (date: Date): string => date.toISOString().slice(0, 10)

/** Whether day and month could be taken for each other: both are numbers up to 12. */
export const isAmbiguous = (date: Date, pattern: string): boolean =>
  date.getUTCDate() <= 12 && date.getUTCDate() !== date.getUTCMonth() + 1 && isOfDigits(pattern)

/** Whether day and month are printed as digits, one after the other in either order. */
export const isOfDigits = (pattern: string): boolean =>
  /[MD].[MD]/.test(pattern) && !/MMM|UUU/.test(pattern) && !pattern.startsWith('Y')
