import { Code, Skeleton, Stack, Table, Text } from '@mantine/core'
import { CopyableCode } from '../../../components/CopyableCode.tsx'
import { Delayed } from '../../../components/Delayed.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { ErrorNotice } from '../../../components/ErrorNotice.tsx'
import { Facts } from '../../../components/Facts.tsx'
import { StatusBadge } from '../../../components/StatusBadge.tsx'
import type { Tone } from '../../../theme.ts'
import { Section } from '../Section.tsx'
import { useSignInSettings, type SignInSettings } from './sign-in-query.ts'

/** How members sign in, as the operator of the server has set it. */
export function SignInSection() {
  const settings = useSignInSettings()
  if (!settings.data)
    return settings.error ? (
      <ErrorNotice error={settings.error} onRetry={() => void settings.refetch()} />
    ) : (
      <Delayed>
        <Skeleton height={320} />
      </Delayed>
    )
  return (
    <Stack gap="xl">
      <Ways settings={settings.data} />
      <SingleSignOn oidc={settings.data.oidc} />
    </Stack>
  )
}

interface WayProps {
  tone: Tone
  /** One word. */
  state: string
  /** What it means. */
  children: string
}

const Way = ({ tone, state, children }: WayProps) => (
  <>
    <StatusBadge tone={tone}>{state}</StatusBadge> {children}
  </>
)

const Ways = ({ settings }: { settings: SignInSettings }) => (
  <Section
    title="Ways to sign in"
    description="The same for every organization of this server. Its operator changes them with the named settings."
  >
    <Facts
      facts={[
        { label: 'Password', value: <Way tone="good" state="on">{`at least ${settings.password_length_min} characters`}</Way> },
        {
          label: 'Passkey',
          value: (
            <Way tone="good" state="on">
              alone, and needed after the password by members who have one
            </Way>
          ),
        },
        {
          label: 'Single sign-on',
          value: settings.oidc ? (
            <Way tone="good" state="on">
              {settings.oidc.label}
            </Way>
          ) : (
            <Way tone="neutral" state="off">
              no issuer is set (OIDC_ISSUER)
            </Way>
          ),
        },
        {
          label: 'Demo',
          value: settings.demo && (
            <Way tone="attention" state="on">
              everyone who reaches the server signs in with one click (DEMO)
            </Way>
          ),
        },
        {
          label: 'Mail',
          value: settings.sends_mail ? (
            <Way tone="good" state="on">
              invitations and links for passwords are sent
            </Way>
          ) : (
            <Way tone="attention" state="off">
              nothing is sent, so copy the links of invitations (SMTP_URL)
            </Way>
          ),
        },
        {
          label: 'Sessions end',
          value: `after ${durationInWords(settings.session_idle_s)} without a request (SESSION_IDLE_MINUTES), and after ${durationInWords(settings.session_s)} in all (SESSION_HOURS)`,
        },
      ]}
    />
  </Section>
)

/** In the unit of its setting. */
function durationInWords(duration_s: number): string {
  const hours = duration_s / 3600
  if (Number.isInteger(hours)) return hours === 1 ? '1 hour' : `${hours} hours`
  return `${duration_s / 60} minutes`
}

function SingleSignOn({ oidc }: { oidc: SignInSettings['oidc'] }) {
  if (!oidc)
    return (
      <Section title="Single sign-on">
        <EmptyState
          title="No OpenID Connect issuer"
          command={'PUBLIC_URL=https://lab.example.com\nOIDC_ISSUER=https://login.example.com\nOIDC_CLIENT_ID=drawbridge'}
        >
          With these settings of the server, members sign in through the issuer of your organization.
        </EmptyState>
      </Section>
    )
  return (
    <Section title="Single sign-on" description="Members sign in through this OpenID Connect issuer.">
      <Facts
        facts={[
          { label: 'Issuer', value: oidc.issuer },
          { label: 'Client', value: `${oidc.client_id}, ${oidc.has_client_secret ? 'with a secret' : 'public'}` },
          { label: 'Name on the page', value: oidc.label },
          { label: 'Allowed domains', value: oidc.allowed_domains.join(', ') || 'every address that the issuer has verified' },
        ]}
      />
      <Stack gap="xs">
        <Text size="sm">Redirect URI, which the issuer must allow</Text>
        <CopyableCode text={oidc.redirect_uri} label="the redirect URI" />
      </Stack>
      {oidc.role_claim === null ? (
        <Text size="sm">The issuer gives no roles: members have those of the section Members.</Text>
      ) : (
        <RoleTable claim={oidc.role_claim} roles={oidc.roles} />
      )}
    </Section>
  )
}

const RoleTable = ({ claim, roles }: { claim: string; roles: readonly { value: string; role: string }[] }) => (
  <Stack gap="sm">
    <Text size="sm">
      The claim <Code>{claim}</Code> gives these roles at each sign-in. The first value that fits applies, and makes a member of a
      person who is none.
    </Text>
    <Table aria-label="Roles by the values of the claim" maw={480}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Value</Table.Th>
          <Table.Th>Role</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {roles.map(({ value, role }) => (
          <Table.Tr key={value}>
            <Table.Td>{value}</Table.Td>
            <Table.Td>{role}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </Stack>
)
