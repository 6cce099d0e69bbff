import { ActionIcon, Button, Group, Stack, Text, Title } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { CodeSamples, type SampleRequest } from '../../components/CodeSamples.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { Icon } from '../../components/Icon.tsx'
import type { KeyKind } from '../../components/key-kind.ts'
import { useOpenClock } from '../../frame/frame-context.ts'
import { usePermission } from '../../session/permissions.ts'
import { useTeam } from '../../session/team.ts'
import { useCreateExampleUser, useFirstEndpoint, useFirstSteps, usePlaceExampleOrder } from './first-steps.ts'
import classes from './Checklist.module.css'

/** The first steps in a sandbox, each with a button that does it here and a command that does the same. */
export function Checklist() {
  const { team } = useTeam()
  const [isDismissed, setDismissed] = useLocalStorage({
    key: `drawbridge-checklist-${team.id}`,
    defaultValue: false,
    getInitialValueInEffect: false,
  })
  const steps = useFirstSteps()
  if (isDismissed) return null
  const doneCount = Object.values(steps).filter(Boolean).length
  return (
    <section aria-labelledby="first-steps" className={classes.checklist}>
      <Group justify="space-between" wrap="nowrap" mb="sm">
        <Title order={2} id="first-steps">
          From an order to its signed result{' '}
          <Text span c="dimmed" size="sm">
            {doneCount} of {Object.keys(steps).length}
          </Text>
        </Title>
        <ActionIcon variant="subtle" color="gray" onClick={() => setDismissed(true)} aria-label="Dismiss the first steps">
          <Icon name="close" size={16} />
        </ActionIcon>
      </Group>
      <Stack component="ol" gap={0} className={classes.steps}>
        {steps.key !== undefined && <KeyStep isDone={steps.key} />}
        <UserStep isDone={steps.user} />
        <OrderStep isDone={steps.order} />
        <ClockStep isDone={steps.clock} />
        <EndpointStep isDone={steps.endpoint} />
        <DeliveryStep isDone={steps.delivery} />
      </Stack>
    </section>
  )
}

function KeyStep({ isDone }: { isDone: boolean }) {
  const { pathTo } = useTeam()
  return (
    <Step
      isDone={isDone}
      title="Call the API with a key, which is seen here within a minute"
      request={{ method: 'GET', path: '/v2/user/metrics' }}
    >
      <Button size="compact-sm" variant="default" component={Link} to={pathTo('settings/keys')}>
        Create a key
      </Button>
    </Step>
  )
}

function UserStep({ isDone }: { isDone: boolean }) {
  const create = useCreateExampleUser()
  return (
    <Step
      isDone={isDone}
      title="Create a user, the patient of an order"
      error={create.error}
      request={{ method: 'POST', path: '/v2/user', body: { client_user_id: 'patient-1' } }}
    >
      <Button size="compact-sm" variant="default" loading={create.isPending} onClick={() => create.mutate()}>
        Create a user
      </Button>
    </Step>
  )
}

function OrderStep({ isDone }: { isDone: boolean }) {
  const order = usePlaceExampleOrder()
  return (
    <Step isDone={isDone} title="Order a test for a fictional patient" error={order.error}>
      <Button size="compact-sm" variant="default" loading={order.isPending} onClick={() => order.mutate()}>
        Place an example order
      </Button>
    </Step>
  )
}

function ClockStep({ isDone }: { isDone: boolean }) {
  const openClock = useOpenClock()
  return (
    <Step
      isDone={isDone}
      title="Move the clock, so that the laboratory has its result at once"
      request={{ method: 'POST', path: '/v1/sandbox/clock/advance', body: { seconds: 86_400 } }}
    >
      <Button size="compact-sm" variant="default" onClick={openClock}>
        Move the clock
      </Button>
    </Step>
  )
}

const ENDPOINTS = 'events/endpoints'

function EndpointStep({ isDone }: { isDone: boolean }) {
  const { pathTo, org_id, team, environment } = useTeam()
  const canAdd = usePermission('create_webhook')
  const path = `/v1/org/${org_id}/team/${team.id}/${environment}/webhook`
  return (
    <Step
      isDone={isDone}
      title="Add an endpoint that receives events"
      request={{ method: 'POST', path, body: { url: 'https://receiver.example.com/events' } }}
      keyKind="management"
    >
      {canAdd && (
        <Button size="compact-sm" variant="default" component={Link} to={pathTo(ENDPOINTS)}>
          Add an endpoint
        </Button>
      )}
    </Step>
  )
}

function DeliveryStep({ isDone }: { isDone: boolean }) {
  const { pathTo, org_id, team, environment } = useTeam()
  const canSend = usePermission('test_webhook')
  const endpoint_id = useFirstEndpoint().data?.id
  const path = `/v1/org/${org_id}/team/${team.id}/${environment}/webhook/${endpoint_id ?? 'ENDPOINT_ID'}/test`
  return (
    <Step
      isDone={isDone}
      title="Receive the first signed event"
      request={{ method: 'POST', path, body: { event_type: 'labtest.order.created' } }}
      keyKind="management"
    >
      {canSend && (
        <Button
          size="compact-sm"
          variant="default"
          component={Link}
          to={pathTo(endpoint_id === undefined ? ENDPOINTS : `${ENDPOINTS}/${endpoint_id}`)}
        >
          Send an example
        </Button>
      )}
    </Step>
  )
}

interface StepProps {
  isDone: boolean
  title: string
  /** The button that does it. */
  children: ReactNode
  /** The request that does the same. */
  request?: SampleRequest
  /** Which kind of key the request needs. */
  keyKind?: KeyKind
  error?: Error | null
}

const Step = ({ isDone, title, children, request, keyKind, error }: StepProps) => (
  <li className={classes.step} data-done={isDone}>
    <Group gap="sm" wrap="nowrap" className={classes.title}>
      <span className={classes.mark}>{isDone && <Icon name="check" size={14} />}</span>
      <Text span>
        {title}
        <span className={classes.state}>{isDone ? ', done' : ', to do'}</span>
      </Text>
    </Group>
    <Group gap="xs">
      {children}
      {request && <CodeSamples request={request} {...(keyKind && { keyKind })} />}
    </Group>
    {error && <ErrorNotice error={error} />}
  </li>
)
