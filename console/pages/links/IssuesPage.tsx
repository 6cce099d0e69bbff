import { Button, Group, SegmentedControl, Select, Skeleton, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMemo, useState } from 'react'
import { useSearchParams } from 'react-router'
import { CodeSamples } from '../../components/CodeSamples.tsx'
import { Delayed } from '../../components/Delayed.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { toWords } from '../../components/order-status.ts'
import { Page } from '../../components/Page.tsx'
import { usePermission } from '../../session/permissions.ts'
import { AccountSelect, useAccountFilter } from './AccountSelect.tsx'
import { FinishDialog } from './FinishDialog.tsx'
import { IssueCard } from './IssueCard.tsx'
import { useFinishIssue, useIssues, type IssueQuery, type LinkIssue } from './issue-queries.ts'
import { LinkPageTabs } from './LinkPageTabs.tsx'
import { useLinks, useLinkScope } from './link-queries.ts'

type Reason = LinkIssue['reason']

/** As in the API, so that a reason that the page does not know is an error of the compiler. */
const REASONS: Record<Reason, true> = {
  link_down: true,
  refused_order: true,
  unsendable_order: true,
  expired_order: true,
  rejected: true,
  unknown_team: true,
  decimal_mark: true,
  unknown_link: true,
  undecodable: true,
  unreadable: true,
  unexpected: true,
  document_refused: true,
  unknown_code: true,
  control_id_conflict: true,
  count_mismatch: true,
  unsupported_type: true,
  half_frame: true,
  stray_bytes: true,
}
const REASON_OPTIONS = Object.keys(REASONS).map((value) => ({ value, label: toWords(value) }))
const STATES = [
  { label: 'Open', value: 'open' },
  { label: 'Done', value: 'done' },
]

/** What a person must look at on links to laboratories, newest first. */
export function IssuesPage() {
  const { org_id, env, region } = useLinkScope()
  const links = useLinks()
  const { query, setReason, setState } = useIssueFilter()
  return (
    <Page
      title="Lab links"
      actions={
        <CodeSamples
          request={{ method: 'GET', path: `/v1/org/${org_id}/lab_link_issue/${env}/${region}`, query }}
          keyKind="management"
        />
      }
    >
      <LinkPageTabs />
      <Stack gap="sm">
        <Group gap="sm">
          <SegmentedControl
            size="xs"
            data={STATES}
            value={query.state ?? 'open'}
            onChange={setState}
            aria-label="State of the issues"
          />
          <AccountSelect accounts={links.data} />
          <Select
            aria-label="Reason"
            placeholder="Every reason"
            data={REASON_OPTIONS}
            value={query.reason?.[0] ?? null}
            onChange={setReason}
            searchable
            clearable
            clearButtonProps={{ 'aria-label': 'Every reason' }}
            w={200}
          />
        </Group>
        <IssueList query={query} />
      </Stack>
    </Page>
  )
}

function IssueList({ query }: { query: IssueQuery }) {
  const issues = useIssues(query)
  const rows = issues.data?.pages.flatMap(({ data }) => data) ?? []
  const canFinish = usePermission('finish_lab_link_issue')
  const finish = useFinishIssue()
  // A copy: the list behind the dialog is read again meanwhile.
  const [chosen, setChosen] = useState<LinkIssue>()
  const [isOpen, { open, close }] = useDisclosure()
  const choose = (issue: LinkIssue): void => {
    setChosen(issue)
    open()
  }
  return (
    <>
      {issues.error && <ErrorNotice error={issues.error} onRetry={() => void issues.refetch()} />}
      {!issues.data && !issues.error && (
        <Delayed>
          <Skeleton height={320} />
        </Delayed>
      )}
      {issues.data && rows.length === 0 && <NoIssues query={query} />}
      {rows.length > 0 && (
        <Text size="sm" c="dimmed" component="output">
          {rows.length} {issues.hasNextPage ? 'loaded' : rows.length === 1 ? 'issue' : 'issues'}
        </Text>
      )}
      {rows.map((issue) => (
        <IssueCard
          key={issue.id}
          issue={issue}
          onFinish={canFinish && issue.state === 'open' ? () => choose(issue) : undefined}
        />
      ))}
      {issues.hasNextPage && (
        <Group>
          <Button
            variant="subtle"
            size="compact-sm"
            loading={issues.isFetchingNextPage}
            onClick={() => void issues.fetchNextPage()}
          >
            Load more
          </Button>
        </Group>
      )}
      {chosen && (
        <FinishDialog
          key={chosen.id}
          title={`${toWords(chosen.reason)}: mark as done`}
          text={finishText(chosen)}
          isOpen={isOpen}
          onClose={close}
          onConfirm={(comment) => finish(chosen, comment)}
        />
      )}
    </>
  )
}

/** The filter in the address of the page. Without one the open issues are shown. */
function useIssueFilter() {
  const [params, setParams] = useSearchParams()
  const [account_id] = useAccountFilter()
  const reason = REASON_OPTIONS.find(({ value }) => value === params.get('reason'))?.value as Reason | undefined
  const state = params.get('state') === 'done' ? 'done' : 'open'
  const set = (name: string, value: string | null): void =>
    setParams((previous) => {
      const changed = new URLSearchParams(previous)
      if (value === null) changed.delete(name)
      else changed.set(name, value)
      return changed
    })
  const query = useMemo<IssueQuery>(
    () => ({ state, ...(account_id !== undefined && { account_id }), ...(reason !== undefined && { reason: [reason] }) }),
    [state, account_id, reason],
  )
  return {
    query,
    setReason: (value: string | null) => set('reason', value),
    setState: (value: string) => set('state', value === 'done' ? value : null),
  }
}

function NoIssues({ query: { state, account_id, reason } }: { query: IssueQuery }) {
  if (account_id !== undefined || reason !== undefined)
    return <EmptyState title="No issue matches">Choose every lab account and every reason to see all issues.</EmptyState>
  if (state === 'done') return <EmptyState title="No issue is done">Issues that were marked as done are listed here.</EmptyState>
  return (
    <EmptyState title="No open issues">
      What a laboratory refuses, what cannot be read or sent, and links that fail are listed here, each with what to do.
    </EmptyState>
  )
}

/** Says what the mark does to the message of an issue. */
const finishText = ({ id, message_id }: LinkIssue): string =>
  id === message_id
    ? 'The message is marked as done too: it is neither processed nor sent any more. It can still be replayed or resent.'
    : 'The issue leaves the list of open issues. Nothing is sent and no order changes. The same issue opens again when it occurs again.'
