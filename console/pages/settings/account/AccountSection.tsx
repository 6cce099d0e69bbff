import { Stack } from '@mantine/core'
import { Facts } from '../../../components/Facts.tsx'
import { useSession } from '../../../session/session.ts'
import { Section } from '../Section.tsx'
import { Passkeys } from './Passkeys.tsx'
import { PasswordForm } from './PasswordForm.tsx'
import { Sessions } from './Sessions.tsx'

/** The account of the member who has signed in. */
export function AccountSection() {
  const { member, org, role, teams } = useSession()
  return (
    <Stack gap="xl">
      <Section title="Account" description="An administrator of the organization changes roles, under Members.">
        <Facts
          facts={[
            { label: 'Name', value: member.name },
            { label: 'Email', value: member.email },
            { label: 'Organization', value: org.name },
            { label: 'Role', value: role === 'org_admin' ? 'Administrator of the organization' : roleInTeams(teams) },
          ]}
        />
      </Section>
      <PasswordForm />
      <Passkeys />
      <Sessions />
    </Stack>
  )
}

const TEAMS_SHOWN_MAX = 5

/** For example `Developer in North, viewer in South`. */
function roleInTeams(teams: readonly { name: string; role: string }[]): string {
  const texts = teams.slice(0, TEAMS_SHOWN_MAX).map(({ name, role }) => `${role} in ${name}`)
  const more = teams.length > texts.length ? ` and ${teams.length - texts.length} more` : ''
  return texts.join(', ') + more
}
