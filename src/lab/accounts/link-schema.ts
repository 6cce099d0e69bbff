// Shapes of links in the Management API.
import { Fields, Maybe, Nullable, OpenEnum, T, Timestamp, Uuid, type Static } from '../../platform/schema/schema.ts'
import { linkModes } from '../links/link-modes.ts'
import { LinkProfile } from '../links/profile/link-profile.ts'
import { presetNames } from '../links/profile/presets.ts'

const Difference = Fields(
  {
    option: T.String({ description: 'Path of the option, such as `text.decimal_mark`.' }),
    standard: T.Unknown({ description: "The preset's value, or the default; null if there is none." }),
    value: T.Unknown({ description: 'The value of the link.' }),
  },
  { title: 'LabLinkDifference' },
)

export const LabLink = Fields(
  {
    account_id: Uuid,
    lab: T.String({ description: 'Slug of the laboratory.' }),
    account_number: T.String({ description: 'Account number at the laboratory.' }),
    mode: OpenEnum(linkModes),
    live_team_id: Nullable(T.String({ format: 'uuid' })),
    state: OpenEnum(['ok', 'failing']),
    state_at: T.String({ format: 'date-time', description: 'Since when the link is in the state.' }),
    state_reason: Nullable(T.String()),
    received_at: Nullable(Timestamp),
    sent_at: Nullable(Timestamp),
    preset: Nullable(OpenEnum(presetNames)),
    secrets: T.Array(T.String(), { description: 'Options for which a secret is stored.' }),
    differences: T.Array(Difference, { description: 'Options that differ from the preset, or from the defaults.' }),
  },
  { title: 'LabLink' },
)
export type LabLink = Static<typeof LabLink>

export const LabLinks = Fields({ data: T.Array(LabLink) }, { title: 'LabLinks' })
export const LabLinkReply = Fields({ lab_link: LabLink }, { title: 'LabLinkReply' })

const groups = Object.entries(LinkProfile.properties as Record<string, { description?: string }>).map(
  ([name, { description = '' }]) => [name, Maybe(T.Record(T.String(), T.Unknown(), { description }))],
)

/** The written form of a profile. Its groups are checked when the profile is read as a whole. */
export const ProfileBody = Fields(
  {
    preset: Maybe(OpenEnum(presetNames)),
    ...(Object.fromEntries(groups) as Record<keyof LinkProfile, ReturnType<typeof Maybe<ReturnType<typeof T.Unknown>>>>),
  },
  {
    title: 'LabLinkProfile',
    description: 'Groups of options that differ from the preset, or from the defaults: docs/reference/lab-profile.md.',
  },
)

export const ModeBody = Fields(
  {
    mode: OpenEnum(linkModes),
    team_id: Maybe(T.String({ format: 'uuid', description: 'The team of `live_for_team`.' })),
  },
  { title: 'LabLinkMode' },
)
