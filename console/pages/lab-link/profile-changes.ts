// What an imported file changes in the profile of a link, option by option.
import type { components } from '../../api/schema.d.ts'

export type ProfileFile = components['schemas']['LabLinkProfile']

export interface ProfileChange {
  /** Such as `text.decimal_mark`. */
  option: string
  /** Values as JSON; undefined: as in the preset. */
  currentValue: string | undefined
  fileValue: string | undefined
}

/** The options that a file changes, in the order of their names. A file without a transport leaves that as it is. */
export function listChanges({ transport, ...profile }: ProfileFile, file: ProfileFile): ProfileChange[] {
  const current = flatten(file.transport === undefined ? profile : { ...profile, transport })
  const next = flatten(file)
  return [...new Set([...current.keys(), ...next.keys()])]
    .toSorted()
    .map((option) => ({ option, currentValue: current.get(option), fileValue: next.get(option) }))
    .filter(({ currentValue, fileValue }) => currentValue !== fileValue)
}

/** A path of this length names an option; shorter ones name groups. */
const OPTION_DEPTH = 2

/** Options by their paths. A list is one value, and so is an empty map. */
function flatten(value: unknown, path: string[] = [], options = new Map<string, string>()): Map<string, string> {
  const entries = typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : undefined
  if (entries && (entries.length > 0 || path.length < OPTION_DEPTH))
    for (const [name, entry] of entries) flatten(entry, [...path, name], options)
  else if (value !== undefined) options.set(path.join('.'), JSON.stringify(value))
  return options
}

/** A profile from the text of a file; undefined if the text is not a JSON object. */
export function readProfile(text: string): ProfileFile | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
