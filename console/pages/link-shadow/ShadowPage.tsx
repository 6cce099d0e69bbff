import { Anchor, Button, Group, Skeleton, Stack, Table, Text, Title } from '@mantine/core'
import { useMemo, useState } from 'react'
import { Link } from 'react-router'
import { CodeSamples } from '../../components/CodeSamples.tsx'
import { Delayed } from '../../components/Delayed.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { shortId } from '../../components/IdText.tsx'
import { toWords } from '../../components/order-status.ts'
import { Page } from '../../components/Page.tsx'
import { SystemTime } from '../../components/RelativeTime.tsx'
import { ScrollRegion } from '../../components/ScrollRegion.tsx'
import { StatusBadge } from '../../components/StatusBadge.tsx'
import { usePermission } from '../../session/permissions.ts'
import { useTeam } from '../../session/team.ts'
import { AccountSelect, useAccountFilter } from '../links/AccountSelect.tsx'
import { useLinks } from '../links/link-queries.ts'
import { LinkPageTabs } from '../links/LinkPageTabs.tsx'
import { useLabAccounts } from '../settings/lab-accounts/lab-account-queries.ts'
import { ShadowOrderCard } from './ShadowOrderCard.tsx'
import { useShadow, type ShadowComparison, type ShadowOrder } from './shadow-query.ts'

/** What a laboratory sends over a link in mode shadow, beside what staff entered for the same orders. */
export function ShadowPage() {
  const { org_id, team, environment } = useTeam()
  const [chosen] = useAccountFilter()
  const initial = useAccountInShadow()
  const accounts = useAccounts()
  const account_id = chosen ?? initial
  return (
    <Page
      title="Shadow results"
      actions={
        account_id !== undefined && (
          <CodeSamples
            request={{ method: 'GET', path: `/v1/org/${org_id}/team/${team.id}/${environment}/lab_link/${account_id}/shadow` }}
            keyKind="management"
          />
        )
      }
    >
      <LinkPageTabs />
      <Stack gap="md">
        <Group gap="sm">
          <AccountSelect accounts={accounts} placeholder="Choose a lab account" initial={initial} />
          <Text size="sm" c="dimmed">
            No team sees these results elsewhere. Looking at them is in the access log.
          </Text>
        </Group>
        {account_id === undefined ? (
          <EmptyState title="Choose a lab account">
            Results that come over its link in mode shadow are compared with those that staff of this team entered.
          </EmptyState>
        ) : (
          <Comparison key={account_id} account_id={account_id} />
        )}
      </Stack>
    </Page>
  )
}

/** The first link in mode shadow, or live for a team; undefined without one, and for members who do not see links. */
function useAccountInShadow(): string | undefined {
  const links = useLinks()
  return links.data?.find(({ mode }) => mode === 'shadow' || mode === 'live_for_team')?.account_id
}

function useAccounts() {
  const accounts = useLabAccounts()
  return useMemo(
    () =>
      accounts.data
        ?.filter(({ org_id }) => org_id !== null)
        .map(({ id, lab, provider_account_id }) => ({ account_id: id, lab, account_number: provider_account_id })),
    [accounts.data],
  )
}

function Comparison({ account_id }: { account_id: string }) {
  const shadow = useShadow(account_id)
  if (!shadow.data)
    return shadow.error ? (
      <ErrorNotice error={shadow.error} onRetry={() => void shadow.refetch()} />
    ) : (
      <Delayed>
        <Skeleton height={320} />
      </Delayed>
    )
  const { orders, unmatched } = shadow.data
  return (
    <>
      {shadow.error && <ErrorNotice error={shadow.error} />}
      {orders.length + unmatched.length === 0 ? (
        <EmptyState title="No results to compare">
          While the link is in mode shadow, each result that the laboratory sends is compared here with what staff enter.
        </EmptyState>
      ) : (
        <Totals comparison={shadow.data} />
      )}
      <Orders orders={orders} />
      {unmatched.length > 0 && <Unmatched messages={unmatched} />}
    </>
  )
}

const Totals = ({ comparison: { totals, unmatched } }: { comparison: ShadowComparison }) => (
  <Group gap="sm">
    <Text size="sm">Orders:</Text>
    <StatusBadge tone={totals.different > 0 ? 'failed' : 'neutral'}>{`${totals.different} different`}</StatusBadge>
    <StatusBadge tone="neutral">{`${totals.not_entered} not entered`}</StatusBadge>
    <StatusBadge tone={totals.same > 0 ? 'good' : 'neutral'}>{`${totals.same} same`}</StatusBadge>
    {unmatched.length > 0 && (
      <StatusBadge tone="attention">
        {unmatched.length === 1 ? '1 message without an order' : `${unmatched.length} messages without an order`}
      </StatusBadge>
    )}
    <Text size="sm" c="dimmed">
      {totals.different_results} of {totals.compared_results} results differ
    </Text>
  </Group>
)

const RANKS: Record<ShadowOrder['outcome'], number> = { different: 0, not_entered: 1, same: 2 }
/** Orders that are shown at first; more come with a press. */
const ORDERS_MAX = 20

/** The orders, those with differences first. */
function Orders({ orders }: { orders: readonly ShadowOrder[] }) {
  const [shown, setShown] = useState(ORDERS_MAX)
  const sorted = orders.toSorted((a, b) => RANKS[a.outcome] - RANKS[b.outcome])
  return (
    <>
      {sorted.slice(0, shown).map((order) => (
        <ShadowOrderCard key={order.order_id} order={order} />
      ))}
      {sorted.length > shown && (
        <Group>
          <Button size="compact-sm" variant="subtle" onClick={() => setShown(shown + ORDERS_MAX)}>
            {sorted.length - shown} more orders
          </Button>
        </Group>
      )}
    </>
  )
}

/** Messages for which no order is certain. */
function Unmatched({ messages }: { messages: ShadowComparison['unmatched'] }) {
  const { pathTo } = useTeam()
  const canOpen = usePermission('get_lab_message')
  return (
    <Stack gap="sm">
      <Title order={2}>Messages without an order</Title>
      <ScrollRegion label="Messages without an order">
        <Table miw={320} aria-label="Messages without an order">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Message</Table.Th>
              <Table.Th>Why</Table.Th>
              <Table.Th>When</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {messages.map(({ message_id, mismatch, created_at }) => (
              <Table.Tr key={message_id}>
                <Table.Td title={message_id}>
                  {canOpen ? (
                    <Anchor component={Link} to={pathTo(`links/messages/${message_id}`)} size="sm">
                      {shortId(message_id)}
                    </Anchor>
                  ) : (
                    shortId(message_id)
                  )}
                </Table.Td>
                <Table.Td>{toWords(mismatch)}</Table.Td>
                <Table.Td>
                  <SystemTime value={created_at} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollRegion>
    </Stack>
  )
}
