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
    path: 'keys',
    label: 'Keys',
    group: 'Team',
    operation: 'list_team_api_keys',
    Content: lazy(async () => ({ default: (await import('./keys/KeysSection.tsx')).KeysSection })),
  },
  {
    path: 'lab-accounts',
    label: 'Lab accounts',
    group: 'Team',
    operation: 'get_lab_accounts',
    Content: lazy(async () => ({ default: (await import('./lab-accounts/LabAccountsSection.tsx')).LabAccountsSection })),
  },
  {
    path: 'physicians',
    label: 'Physicians',
    group: 'Team',
    operation: 'list_team_service_physicians',
    Content: lazy(async () => ({ default: (await import('./physicians/PhysiciansSection.tsx')).PhysiciansSection })),
    hasTeamTimes: true,
  },
  {
    path: 'credentials',
    label: 'Credentials',
    group: 'Team',
    operation: 'get_team_custom_credentials',
    Content: lazy(async () => ({ default: (await import('./credentials/CredentialsSection.tsx')).CredentialsSection })),
  },
  {
    path: 'brand',
    label: 'Brand',
    group: 'Team',
    operation: 'get_team_in_org',
    Content: lazy(async () => ({ default: (await import('./brand/BrandSection.tsx')).BrandSection })),
  },
  {
    path: 'messages',
    label: 'Messages',
    group: 'Team',
    operation: 'list_patient_messages',
    Content: lazy(async () => ({ default: (await import('./messages/MessagesSection.tsx')).MessagesSection })),
    hasTeamTimes: true,
  },
  {
    path: 'retention',
    label: 'Retention',
    group: 'Team',
    operation: 'get_data_retention',
    Content: lazy(async () => ({ default: (await import('./retention/RetentionSection.tsx')).RetentionSection })),
  },
  {
    path: 'audit-log',
    label: 'Audit log',
    group: 'Team',
    operation: 'list_team_audit',
    Content: lazy(async () => ({ default: (await import('./audit-log/AuditLogSection.tsx')).AuditLogSection })),
  },
  {
    path: 'access-log',
    label: 'Access log',
    group: 'Team',
    operation: 'list_user_access',
    Content: lazy(async () => ({ default: (await import('./access-log/AccessLogSection.tsx')).AccessLogSection })),
  },
  {
    path: 'teams',
    label: 'Teams',
    group: 'Organization',
    operation: 'list_teams_in_org',
    Content: lazy(async () => ({ default: (await import('./teams/TeamsSection.tsx')).TeamsSection })),
  },
  {
    path: 'members',
    label: 'Members',
    group: 'Organization',
    operation: 'list_members_in_org',
    Content: lazy(async () => ({ default: (await import('./members/MembersSection.tsx')).MembersSection })),
  },
  {
    path: 'sign-in',
    label: 'Sign-in',
    group: 'Organization',
    operation: 'get_sign_in_settings',
    Content: lazy(async () => ({ default: (await import('./sign-in/SignInSection.tsx')).SignInSection })),
  },
  {
    path: 'account',
    label: 'Account',
    group: 'You',
    operation: EVERYONE,
    Content: lazy(async () => ({ default: (await import('./account/AccountSection.tsx')).AccountSection })),
  },
]
