import { Skeleton, Stack, Text, Title } from '@mantine/core'
import { Link } from 'react-router'
import { Delayed } from '../../components/Delayed.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { StatusBadge } from '../../components/StatusBadge.tsx'
import { hasPage } from '../../pages.ts'
import { useTeam } from '../../session/team.ts'
import { useAttention, type AttentionCount } from './attention.ts'
import classes from './AttentionList.module.css'

interface Kind {
  one: string
  several: string
  /** Where it can be seen and mended. */
  path: string
  tone: 'attention' | 'failed'
}

const KINDS: Record<AttentionCount['kind'], Kind> = {
  endpoints_failing: { one: 'endpoint fails', several: 'endpoints fail', path: 'events/endpoints', tone: 'failed' },
  endpoints_disabled: {
    one: 'endpoint was disabled because it failed',
    several: 'endpoints were disabled because they failed',
    path: 'events/endpoints',
    tone: 'failed',
  },
  deliveries_failed: {
    one: 'event was not delivered',
    several: 'events were not delivered',
    path: 'events/failures?hours=720',
    tone: 'failed',
  },
  jobs_failed: { one: 'job failed permanently', several: 'jobs failed permanently', path: 'health', tone: 'failed' },
  results_to_review: { one: 'result to review', several: 'results to review', path: 'reviews', tone: 'attention' },
  lab_reports_to_review: {
    one: 'lab report to review',
    several: 'lab reports to review',
    path: 'reviews',
    tone: 'attention',
  },
  orders_waiting_for_staff: {
    one: 'order waits for staff',
    several: 'orders wait for staff',
    path: 'work',
    tone: 'attention',
  },
  connections_failing: { one: 'connection fails', several: 'connections fail', path: 'health', tone: 'failed' },
  messages_failed: {
    one: 'message did not reach a patient',
    several: 'messages did not reach a patient',
    path: 'settings/messages',
    tone: 'failed',
  },
}

/** What needs attention, each with a count and a link to where it can be mended. */
export function AttentionList() {
  const { data, error, refetch } = useAttention()
  const counts = data?.data.filter(({ count }) => count > 0)
  return (
    <section aria-labelledby="attention">
      <Stack gap="sm">
        <Title order={2} id="attention">
          Needs attention
        </Title>
        {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
        {!data && !error && (
          <Delayed>
            <Skeleton height={36} />
          </Delayed>
        )}
        {counts?.length === 0 && (
          <div>
            <StatusBadge tone="good">Nothing needs attention</StatusBadge>
          </div>
        )}
        {counts && counts.length > 0 && (
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

function AttentionLine({ count: { kind, count, is_exact } }: { count: AttentionCount }) {
  const { pathTo } = useTeam()
  const { one, several, path, tone } = KINDS[kind]
  const content = (
    <>
      <StatusBadge tone={tone}>{`${count.toLocaleString()}${is_exact ? '' : ' or more'}`}</StatusBadge>
      <Text span>{count === 1 ? one : several}</Text>
    </>
  )
  if (!hasPage(path)) return <div className={classes.line}>{content}</div>
  return (
    <Link className={classes.line} to={pathTo(path)}>
      {content}
    </Link>
  )
}
