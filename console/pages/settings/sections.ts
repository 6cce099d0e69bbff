// The sections of the settings: their addresses, and their place in the list. A section is an entry here and a folder beside this file.
import { lazy, type ComponentType } from 'react'
import type { OperationId } from '../../session/permissions.ts'

export const SECTION_GROUPS = ['Team', 'Organization', 'You'] as const

export interface SettingsSection {
  /** Below `settings/`. */
  path: string
  label: string
  /** `Team`: settings of the team and environment of the page. */
  group: (typeof SECTION_GROUPS)[number]
  /** Hidden from members who may not call it. */
  operation: OperationId
  /** Loaded when the section is opened. */
  Content: ComponentType
  /** Whether its times are those of the team's clock, for example of messages to patients. */
  hasTeamTimes?: boolean
}

/** What every member of a team may do. */
const EVERYONE = 'get_team'

export const SECTIONS: readonly SettingsSection[] = [
  {
    path: 'account',
    label: 'Account',
    group: 'You',
    operation: EVERYONE,
    Content: lazy(async () => ({ default: (await import('./account/AccountSection.tsx')).AccountSection })),
  },
]
