import { Skeleton, Stack, Text, Title } from '@mantine/core'
import { Link } from 'react-router'
import { Delayed } from '../../components/Delayed.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { StatusBadge } from '../../components/StatusBadge.tsx'
import { hasPage } from '../../pages.ts'
import { useTeam } from '../../session/team.ts'
import { useAttention, useOpenIssues, type AttentionCount } from './attention.ts'
import classes from './AttentionList.module.css'

interface Kind {
  singular: string
  plural: string
  /** Where it can be seen and mended. */
  path: string
  tone: 'attention' | 'failed'
}

type AttentionKind = AttentionCount['kind'] | 'link_issues'
/** Something that needs attention, how often, and whether there may be more. */
type Line = Omit<AttentionCount, 'kind'> & { kind: AttentionKind }

const KINDS: Record<AttentionKind, Kind> = {
  link_issues: { singular: 'issue of lab links', plural: 'issues of lab links', path: 'links', tone: 'failed' },
  endpoints_failing: { singular: 'endpoint fails', plural: 'endpoints fail', path: 'events/endpoints', tone: 'failed' },
  endpoints_disabled: {
    singular: 'endpoint was disabled because it failed',
    plural: 'endpoints were disabled because they failed',
    path: 'events/endpoints',
    tone: 'failed',
  },
  deliveries_failed: {
    singular: 'event was not delivered',
    plural: 'events were not delivered',
    path: 'events/failures?hours=720',
    tone: 'failed',
  },
  jobs_failed: { singular: 'job failed permanently', plural: 'jobs failed permanently', path: 'health', tone: 'failed' },
  results_to_review: { singular: 'result to review', plural: 'results to review', path: 'reviews', tone: 'attention' },
  lab_reports_to_review: {
    singular: 'lab report to review',
    plural: 'lab reports to review',
    path: 'reviews',
    tone: 'attention',
  },
  orders_waiting_for_staff: {
    singular: 'order waits for staff',
    plural: 'orders wait for staff',
    path: 'work',
    tone: 'attention',
  },
  connections_failing: { singular: 'connection fails', plural: 'connections fail', path: 'health', tone: 'failed' },
  messages_failed: {
    singular: 'message did not reach a patient',
    plural: 'messages did not reach a patient',
    path: 'settings/messages?state=failed',
    tone: 'failed',
  },
}

/** What needs attention, each with a count and a link to where it can be mended. */
export function AttentionList() {
  const { data, error, refetch } = useAttention()
  const issues = useOpenIssues()
  const lines: Line[] = [...(issues.data ? [{ kind: 'link_issues' as const, ...issues.data }] : []), ...(data?.data ?? [])]
  const counts = lines.filter(({ count }) => count > 0)
  const isRead = data !== undefined && !issues.isLoading && !issues.error
  return (
    <section aria-labelledby="attention">
      <Stack gap="sm">
        <Title order={2} id="attention">
          Needs attention
        </Title>
        {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
        {issues.error && <ErrorNotice error={issues.error} onRetry={() => void issues.refetch()} />}
        {!data && !error && (
          <Delayed>
            <Skeleton height={36} />
          </Delayed>
        )}
        {isRead && counts.length === 0 && (
          <div>
            <StatusBadge tone="good">Nothing needs attention</StatusBadge>
          </div>
        )}
        {(data ?? error) && counts.length > 0 && (
          <ul className={classes.list}>
            {counts.map((count) => (
              <li key={count.kind}>
                <AttentionLine count={count} />
              </li>
            ))}
          </ul>
        )}
      </Stack>
    </section>
  )
}

function AttentionLine({ count: { kind, count, is_exact } }: { count: Line }) {
  const { pathTo } = useTeam()
  const { singular, plural, path, tone } = KINDS[kind]
  const content = (
    <>
      <StatusBadge tone={tone}>{`${count.toLocaleString()}${is_exact ? '' : ' or more'}`}</StatusBadge>
      <Text span>{count === 1 ? singular : plural}</Text>
    </>
  )
  if (!hasPage(path)) return <div className={classes.line}>{content}</div>
  return (
    <Link className={classes.line} to={pathTo(path)}>
      {content}
    </Link>
  )
}
