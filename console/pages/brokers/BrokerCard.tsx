import { Anchor, Button, Group, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'react-router'
import { SmallBars } from '../../components/bars/Bars.tsx'
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx'
import { Facts } from '../../components/Facts.tsx'
import { SystemTime } from '../../components/RelativeTime.tsx'
import { usePermission } from '../../session/permissions.ts'
import { useTeam } from '../../session/team.ts'
import { attemptBars, ATTEMPT_PARTS } from '../endpoints/attempt-bars.ts'
import { useAttemptCounts, useHealth, type EndpointHealth } from '../endpoints/endpoint-queries.ts'
import { HealthBadge } from '../endpoints/HealthBadge.tsx'
import { causeWords, eventsPath, useFailures } from '../failures/failures-query.ts'
import { findAddress, disable, enable } from './broker-form.ts'
import { brokerName } from './broker-names.ts'
import { useSavePipeline, type BrokerKind, type Pipeline } from './broker-queries.ts'
import classes from './BrokerCard.module.css'

const HOURS = 24
/** The last failure is looked for in 30 days. */
const FAILURE_HOURS = 720

interface BrokerCardProps {
  pipeline: Pipeline
  kind: BrokerKind
  onEdit: () => void
}

/** One broker: where it is, how it is doing, and what failed last. */
export function BrokerCard({ pipeline, kind, onEdit }: BrokerCardProps) {
  const health = useHealth()
  const attempts = useAttemptCounts(HOURS)
  const isEnabled = pipeline.preferences.enabled.includes(kind)
  const own = [...(health.data?.values() ?? [])].find((candidate) => candidate.kind === kind)
  return (
    <section className={classes.card} aria-label={brokerName(kind)}>
      <Stack gap="sm">
        <Group justify="space-between">
          <Group gap="sm">
            <Title order={2}>{brokerName(kind)}</Title>
            {isEnabled ? own && <HealthBadge state={own.state} /> : <HealthBadge state="disabled" />}
          </Group>
          {own && attempts.data && (
            <div className={classes.bars}>
              <SmallBars
                label={`Attempts at ${brokerName(kind)} in ${HOURS} hours`}
                parts={ATTEMPT_PARTS}
                bars={attemptBars(attempts.data, own.destination_id)}
              />
            </div>
          )}
        </Group>
        <Facts
          facts={[
            { label: 'Address', value: findAddress(pipeline, kind) },
            { label: 'Waiting', value: own?.pending.toLocaleString() },
            { label: 'Failing since', value: own?.failing_since && <SystemTime value={own.failing_since} /> },
            { label: 'Last failure', value: own && <LastFailure health={own} /> },
          ]}
        />
        <BrokerActions pipeline={pipeline} kind={kind} isEnabled={isEnabled} onEdit={onEdit} />
      </Stack>
    </section>
  )
}

function LastFailure({ health }: { health: EndpointHealth }) {
  const { pathTo } = useTeam()
  const canSeeEvents = usePermission('list_event_rows')
  const failures = useFailures(FAILURE_HOURS)
  const last = failures.data?.data
    .filter(({ destination_id }) => destination_id === health.destination_id)
    .toSorted((a, b) => b.last_at.localeCompare(a.last_at))[0]
  if (!failures.data) return null
  if (!last) return 'none in 30 days'
  return (
    <>
      {canSeeEvents ? (
        <Anchor component={Link} to={pathTo(eventsPath(last))} size="sm">
          {causeWords(last)}
        </Anchor>
      ) : (
        causeWords(last)
      )}
      , <SystemTime value={last.last_at} />
    </>
  )
}

function BrokerActions({ pipeline, kind, isEnabled, onEdit }: BrokerCardProps & { isEnabled: boolean }) {
  const canChange = usePermission('upsert_team_etl_pipelines')
  const saving = useSavePipeline()
  const [isConfirming, setConfirming] = useState(false)
  const [wasEnabled, setWasEnabled] = useState(isEnabled)
  if (!canChange) return null
  const changed = wasEnabled ? disable(pipeline, kind) : enable(pipeline, kind)
  const isLast = isEnabled && !disable(pipeline, kind)
  return (
    <Group gap="sm">
      <Button size="xs" variant="default" onClick={onEdit}>
        Edit
      </Button>
      {!isLast && (
        <Button
          size="xs"
          variant="default"
          onClick={() => {
            setWasEnabled(isEnabled)
            setConfirming(true)
          }}
        >
          {isEnabled ? 'Disable' : 'Enable'}
        </Button>
      )}
      <ConfirmDialog
        isOpen={isConfirming}
        onClose={() => setConfirming(false)}
        title={`${wasEnabled ? 'Disable' : 'Enable'} ${brokerName(kind)}`}
        action={wasEnabled ? 'Disable broker' : 'Enable broker'}
        onConfirm={async () => changed && (await saving.mutateAsync({ preferences: changed }))}
      >
        <Text size="sm">
          {wasEnabled
            ? 'No event is written to it any more. Events that wait for it are not sent. Its connection stays.'
            : 'Events that happen from now on are written to it.'}
        </Text>
      </ConfirmDialog>
    </Group>
  )
}
