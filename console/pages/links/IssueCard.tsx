import { Anchor, Button, Group, Stack, Text } from '@mantine/core'
import { Link } from 'react-router'
import { shortId } from '../../components/IdText.tsx'
import { toWords } from '../../components/order-status.ts'
import { SystemTime } from '../../components/RelativeTime.tsx'
import { StatusBadge } from '../../components/StatusBadge.tsx'
import { useTeam } from '../../session/team.ts'
import type { LinkIssue } from './issue-queries.ts'
import { accountWords } from './link-queries.ts'
import { OrderLink } from './OrderLink.tsx'
import { Remedy } from './Remedy.tsx'
import classes from './IssueCard.module.css'

/** Reasons for which nothing was lost or refused. */
const HINTS: ReadonlySet<LinkIssue['reason']> = new Set([
  'control_id_conflict',
  'count_mismatch',
  'unknown_code',
  'half_frame',
  'stray_bytes',
  'unsupported_type',
])

interface IssueCardProps {
  issue: LinkIssue
  /** Undefined for members who may not, and for issues that are done. */
  onFinish: (() => void) | undefined
}

/** An issue: what is wrong, where, since when, and what to do. */
export function IssueCard({ issue, onFinish }: IssueCardProps) {
  const { reason, text, detail, state, comment, updated_at } = issue
  const tone = state === 'done' ? 'neutral' : HINTS.has(reason) ? 'attention' : 'failed'
  return (
    <article className={classes.issue} aria-label={text}>
      <Stack gap={2}>
        <Group gap="sm">
          <StatusBadge tone={tone}>{toWords(reason)}</StatusBadge>
          <Text fw={600} size="sm" className={classes.text}>
            {text}
          </Text>
        </Group>
        <Place issue={issue} />
      </Stack>
      <Stack gap="sm" className={classes.content}>
        {detail !== null && (
          <Text size="sm" className={classes.detail}>
            {detail}
          </Text>
        )}
        {state === 'open' ? (
          <Remedy issue={issue} />
        ) : (
          <Text size="sm" className={classes.text}>
            Done <SystemTime value={updated_at} />
            {comment !== null && `: ${comment}`}
          </Text>
        )}
      </Stack>
      {onFinish && (
        <Button size="compact-sm" variant="default" className={classes.finish ?? ''} onClick={onFinish}>
          Mark as done
        </Button>
      )}
    </article>
  )
}

/** Where and when it occurred. */
function Place({ issue }: { issue: LinkIssue }) {
  const { lab, account_number, source, message_id, order_id, team_id, count, created_at, updated_at } = issue
  const { pathTo } = useTeam()
  return (
    <Text size="sm" c="dimmed" className={classes.text}>
      {lab !== null && account_number !== null ? accountWords({ lab, account_number }) : 'no lab account'}
      {order_id !== null && team_id !== null ? (
        <>
          {' · '}
          <OrderLink order_id={order_id} team_id={team_id} />
        </>
      ) : (
        source !== null && ` · ${source}`
      )}
      {message_id !== null && (
        <>
          {' · '}
          <Anchor component={Link} to={pathTo(`links/messages/${message_id}`)} size="sm" underline="always" title={message_id}>
            message {shortId(message_id)}
          </Anchor>
        </>
      )}
      {' · '}
      <SystemTime value={created_at} />
      {count > 1 && (
        <>
          , {count.toLocaleString()} times, last <SystemTime value={updated_at} />
        </>
      )}
    </Text>
  )
}
