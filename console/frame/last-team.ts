// The team and the environment that were open last in this browser: ids alone.

const KEY = 'drawbridge-last-team'

/** `TEAM/CELL`, or undefined. */
export const readLastTeam = (): string | undefined => localStorage.getItem(KEY) ?? undefined

export const saveLastTeam = (path: string): void => localStorage.setItem(KEY, path)
