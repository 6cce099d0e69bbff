// Reads profiles as they are written and as they are stored: a preset, and the options that differ from it. Pure.
import { validate } from '../../../platform/schema/request-validation.ts'
import { valueFault, type Fault } from '../../../platform/schema/fault.ts'
import { Problem } from '../../../platform/runtime/problem.ts'
import { listDifferences, mergeOptions, toOptions, type Difference } from './differences.ts'
import { LinkProfile, type ProfileOptions } from './link-profile.ts'
import { presetNames, presets, type PresetName } from './presets.ts'
import { resolveMasks, splitSecrets, withMasks, type Secrets } from './secrets.ts'
import { listTransportFaults } from './transport-options.ts'

/** The form in which a profile is written: a preset and what differs from it. A secret may be a mask. */
export type ProfileFile = ProfileOptions & { preset?: PresetName }

/** A profile as it is stored. */
export interface StoredProfile {
  preset: PresetName | null
  /** Without secrets. */
  options: ProfileOptions
}

/** 400 with every fault of a profile, each with the path of its option. */
export class ProfileProblem extends Problem {
  override name = 'ProfileProblem'
  readonly faults: readonly Fault[]
  constructor(faults: readonly Fault[], introduction = '') {
    super(400, {
      detail: introduction + faults.map(({ loc, msg }) => `${loc.join('.') || 'profile'}: ${msg}`).join('; '),
    })
    this.faults = faults
  }
}

/**
 * Reads a profile from its written form. What agrees with the preset is left out of the options.
 * Errors: ProfileProblem.
 * @param storedSecrets of the link, for which masks stand
 */
export function readProfileFile(file: unknown, storedSecrets: Secrets = {}): StoredProfile & { secrets: Secrets } {
  const faults: Fault[] = []
  const { preset, options } = splitPreset(file, faults)
  const standard = presetProfile(preset)
  const whole = validate(LinkProfile, mergeOptions(LinkProfile, standard, options), [], faults, 'json')
  if (typeof whole !== 'object' || whole === null) throw new ProfileProblem(faults)
  const { open, secrets: writtenSecrets } = splitSecrets(LinkProfile, whole)
  const { secrets, unknownPaths } = resolveMasks(writtenSecrets, storedSecrets)
  for (const path of unknownPaths) faults.push(valueFault(path.split('.'), 'no secret is stored for which the mask could stand'))
  if (!faults.some(({ type }) => type === 'model_attributes_type'))
    faults.push(...listTransportFaults((whole as LinkProfile).transport))
  if (faults.length) throw new ProfileProblem(faults)
  return { preset, options: toOptions(listDifferences(LinkProfile, standard, open)), secrets }
}

function splitPreset(file: unknown, faults: Fault[]): { preset: PresetName | null; options: unknown } {
  if (typeof file !== 'object' || file === null || !('preset' in file)) return { preset: null, options: file }
  const { preset: written, ...options } = file
  if (written === null) return { preset: null, options }
  const preset = presetNames.find((name) => name === written)
  if (!preset) faults.push(valueFault(['preset'], `must be one of ${presetNames.join(', ')}`))
  return { preset: preset ?? null, options }
}

/** The values of a preset's options, or the defaults; options without a value are absent. */
const presetProfile = (preset: PresetName | null): unknown =>
  validate(LinkProfile, mergeOptions(LinkProfile, {}, preset ? presets[preset].options : {}), [], [], 'json')

const PROFILES_KEPT_MAX = 500
const profiles = new Map<string, LinkProfile>()

/** The whole profile of what is stored, without secrets: every option has a value. It must not be changed. */
export function wholeProfile({ preset, options }: StoredProfile): LinkProfile {
  const key = JSON.stringify([preset, options])
  let profile = profiles.get(key)
  if (!profile) {
    const faults: Fault[] = []
    const merged = mergeOptions(LinkProfile, presetProfile(preset), options)
    profile = validate(LinkProfile, merged, [], faults, 'json') as LinkProfile
    if (faults.length) throw new ProfileProblem(faults, 'The profile of the link is invalid. ')
    if (profiles.size >= PROFILES_KEPT_MAX) profiles.clear()
    profiles.set(key, profile)
  }
  return profile
}

/** The options in which a stored profile differs from its preset, or from the defaults. */
export const profileDifferences = (profile: StoredProfile): Difference[] =>
  listDifferences(LinkProfile, presetProfile(profile.preset), wholeProfile(profile))

/** A stored profile in its written form. A mask stands for each secret. */
export const toProfileFile = ({ preset, options }: StoredProfile, secret_options: readonly string[]): ProfileFile => ({
  ...(preset !== null && { preset }),
  ...withMasks(options, secret_options),
})
