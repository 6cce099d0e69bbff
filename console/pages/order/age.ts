/** Age in whole years on a day, of a person who was born on a day (`YYYY-MM-DD`). */
export function ageOn(birth_date: string, now_ms: number): number {
  const [year, month, day] = birth_date.split('-').map(Number) as [number, number, number]
  const today = new Date(now_ms)
  const hadBirthday = today.getMonth() + 1 > month || (today.getMonth() + 1 === month && today.getDate() >= day)
  return today.getFullYear() - year - (hadBirthday ? 0 : 1)
}
