import { Anchor, Group, Skeleton, Stack, Table, Text, Title } from '@mantine/core'
import { Link, useParams } from 'react-router'
import { ApiError } from '../../api/api-error.ts'
import { CodeSamples } from '../../components/CodeSamples.tsx'
import { Delayed } from '../../components/Delayed.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { Facts } from '../../components/Facts.tsx'
import { IdText, shortId } from '../../components/IdText.tsx'
import { Page } from '../../components/Page.tsx'
import { SystemTime } from '../../components/RelativeTime.tsx'
import { ScrollRegion } from '../../components/ScrollRegion.tsx'
import { usePermission } from '../../session/permissions.ts'
import { useSession } from '../../session/session.ts'
import { useTeam } from '../../session/team.ts'
import { LinkMode, LinkState } from '../lab-links/link-badges.tsx'
import { accountWords, useLink, useLinkScope, type LabLink } from '../links/link-queries.ts'
import { LinkPageTabs } from '../links/LinkPageTabs.tsx'
import { LinkCheck } from './LinkCheck.tsx'
import { TrialOrders } from './LinkTrial.tsx'
import { MODE_TEXTS } from './mode-texts.ts'
import { ModeDialog } from './ModeDialog.tsx'
import { ProfileFileActions } from './ProfileFileActions.tsx'
import { UnplacedOrders } from './UnplacedOrders.tsx'
import classes from './profile.module.css'

/** The link of one lab account: how far it is live, whether it works, and its profile. */
export function LabLinkPage() {
  const { account_id = '' } = useParams()
  const link = useLink(account_id)
  if (!link.data)
    return (
      <Page title="Link of a lab account">
        <LinkPageTabs />
        {link.error && isWithoutLink(link.error) ? (
          <NoLink account_id={account_id} />
        ) : link.error ? (
          <ErrorNotice error={link.error} onRetry={() => void link.refetch()} />
        ) : (
          <Delayed>
            <Skeleton height={320} />
          </Delayed>
        )}
      </Page>
    )
  return (
    <Page title="Link of a lab account" heading={<Heading link={link.data} />} actions={<Actions link={link.data} />}>
      <LinkPageTabs />
      {link.error && <ErrorNotice error={link.error} />}
      <LinkFacts link={link.data} />
      <UnplacedOrders link={link.data} />
      <LinkCheck link={link.data} />
      {link.data.mode === 'test' && <TrialOrders link={link.data} />}
      <Profile link={link.data} />
    </Page>
  )
}

/** The API tells an account without a link from one that is not there by the text alone. */
const isWithoutLink = (error: Error): boolean =>
  error instanceof ApiError && error.status === 404 && error.detail === 'The lab account has no link'

const NoLink = ({ account_id }: { account_id: string }) => (
  <EmptyState
    title="The lab account has no link"
    action={
      <Group justify="center">
        <ProfileFileActions account_id={account_id} name="the lab account" hasLink={false} />
      </Group>
    }
    command={`bin/drawbridge links set ${account_id} --help`}
  >
    A link connects the account with its laboratory. Import a profile, or set it by the command. The guide of lab links leads from
    the laboratory&apos;s description to the profile.
  </EmptyState>
)

const Heading = ({ link }: { link: LabLink }) => (
  <Stack gap={4}>
    <Title order={1} className={classes.long}>
      {accountWords(link)}
    </Title>
    <Group gap="sm">
      <LinkMode mode={link.mode} />
      {(link.mode !== 'off' || link.state === 'failing') && <LinkState link={link} />}
      <Text size="sm" c="dimmed">
        <IdText id={link.account_id} />
      </Text>
    </Group>
  </Stack>
)

function Actions({ link }: { link: LabLink }) {
  const { org_id, env, region } = useLinkScope()
  const canSetMode = usePermission('set_lab_link_mode')
  return (
    <>
      <CodeSamples
        request={{ method: 'GET', path: `/v1/org/${org_id}/lab_link/${env}/${region}/${link.account_id}` }}
        keyKind="management"
      />
      <ProfileFileActions account_id={link.account_id} name={accountWords(link)} hasLink />
      {canSetMode && <ModeDialog link={link} />}
    </>
  )
}

function LinkFacts({ link }: { link: LabLink }) {
  const { account_id, mode, live_team_id, state, state_at, state_reason, received_at, sent_at } = link
  const { pathTo } = useTeam()
  const { teams } = useSession()
  const team = live_team_id !== null && (teams.find(({ id }) => id === live_team_id)?.name ?? shortId(live_team_id))
  return (
    <Stack gap="sm">
      <Facts
        facts={[
          { label: 'Mode', value: MODE_TEXTS[mode] },
          { label: 'Live for', value: team },
          { label: 'Error', value: state === 'failing' && (state_reason ?? 'unknown') },
          { label: 'Failing since', value: state === 'failing' && <SystemTime value={state_at} /> },
          { label: 'Last received', value: received_at === null ? 'never' : <SystemTime value={received_at} /> },
          { label: 'Last sent', value: sent_at === null ? 'never' : <SystemTime value={sent_at} /> },
        ]}
      />
      <Group gap="lg">
        <Anchor component={Link} to={pathTo(`links?account=${account_id}`)} size="sm">
          Open issues
        </Anchor>
        <Anchor component={Link} to={pathTo(`links/messages?account=${account_id}`)} size="sm">
          Messages
        </Anchor>
      </Group>
    </Stack>
  )
}

/** The preset, and the options that differ from it. */
const Profile = ({ link: { preset, secrets, differences } }: { link: LabLink }) => (
  <Stack gap="sm">
    <Title order={2}>Profile</Title>
    <Text size="sm">
      {preset === null ? 'No preset' : `Preset ${preset}`}, and {differences.length}{' '}
      {differences.length === 1 ? 'option that differs' : 'options that differ'}.
      {secrets.length > 0 && ` Secrets are stored for ${secrets.join(', ')}.`}
    </Text>
    {differences.length > 0 && (
      <ScrollRegion label="Options of the profile">
        <Table miw={560} aria-label="Options of the profile">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Option</Table.Th>
              <Table.Th>Value</Table.Th>
              <Table.Th>{preset === null ? 'Default' : 'In the preset'}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {differences.map(({ option, value, standard }) => (
              <Table.Tr key={option}>
                <Table.Td className={classes.long}>{option}</Table.Td>
                <Table.Td className={classes.value}>{JSON.stringify(value)}</Table.Td>
                <Table.Td className={classes.value}>{standard === null ? '–' : JSON.stringify(standard)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollRegion>
    )}
  </Stack>
)
