import { Anchor, Box, Button, Skeleton, SimpleGrid, Stack, Tabs, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Link, useParams, useSearchParams } from 'react-router'
import { CodeSamples } from '../../components/CodeSamples.tsx'
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx'
import { Delayed } from '../../components/Delayed.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { IdText } from '../../components/IdText.tsx'
import { JsonView } from '../../components/JsonView.tsx'
import { useNow } from '../../components/now.ts'
import { Page } from '../../components/Page.tsx'
import { usePermission } from '../../session/permissions.ts'
import { useLaunch } from '../../session/session.ts'
import { useTeam } from '../../session/team.ts'
import { LifecycleLine } from './LifecycleLine.tsx'
import { ageOn } from './age.ts'
import { OrderAccess } from './OrderAccess.tsx'
import { OrderDocuments } from './OrderDocuments.tsx'
import { OrderEvents } from './OrderEvents.tsx'
import { OrderHistory } from './OrderHistory.tsx'
import { OrderMessages } from './OrderMessages.tsx'
import { OrderNow } from './OrderNow.tsx'
import { OrderResults } from './OrderResults.tsx'
import { useOrder, useOrderEvents, useOrderRefresh, useProgress, type Order, type OrderProgress } from './order-queries.ts'
import classes from './OrderPage.module.css'

/** One order: how far it is, what is due now, what happened, its results and everything that belongs to it. */
export function OrderPage() {
  const { order_id = '' } = useParams()
  const order = useOrder(order_id)
  const progress = useProgress(order_id)
  const events = useOrderEvents(order_id, usePermission('list_event_rows'))
  const error = order.error ?? progress.error
  if (error && !(order.data && progress.data))
    return (
      <Page title="Order">
        <ErrorNotice
          error={error}
          onRetry={() => {
            void order.refetch()
            void progress.refetch()
          }}
        />
      </Page>
    )
  if (!order.data || !progress.data)
    return (
      <Page title="Order">
        <Delayed>
          <Skeleton height={360} />
        </Delayed>
      </Page>
    )
  return (
    <Page
      title="Order"
      heading={<Heading order={order.data} />}
      actions={<Actions order={order.data} progress={progress.data} />}
    >
      {error && <ErrorNotice error={error} />}
      <LifecycleLine steps={progress.data.steps} />
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <Box component="section" className={classes.box} aria-labelledby="order-now">
          <Title order={2} id="order-now">
            Now
          </Title>
          <OrderNow order={order.data} progress={progress.data} />
        </Box>
        <Box component="section" className={classes.box} aria-labelledby="order-history">
          <Title order={2} id="order-history">
            What happened
          </Title>
          {events.error && <ErrorNotice error={events.error} onRetry={() => void events.refetch()} />}
          <OrderHistory order={order.data} events={events.data?.data ?? []} />
        </Box>
      </SimpleGrid>
      <OrderTabs order={order.data} events={events.data?.data ?? []} />
    </Page>
  )
}

function Heading({ order: { id, user_id, lab_test, patient_details: patient } }: { order: Order }) {
  const { pathTo } = useTeam()
  const canOpenUser = usePermission('list_user_rows')
  const now_ms = useNow()
  const name = patient && [patient.first_name, patient.last_name].filter(Boolean).join(' ')
  return (
    <Stack gap={2}>
      <Title order={1}>{lab_test.name}</Title>
      <Text size="sm" c="dimmed">
        {patient && name ? (
          <>
            {canOpenUser ? (
              <Anchor component={Link} to={pathTo(`users/${user_id}`)} size="sm">
                {name}
              </Anchor>
            ) : (
              name
            )}
            , {ageOn(patient.dob, now_ms)}, {patient.gender}
          </>
        ) : (
          'not registered'
        )}{' '}
        · <IdText id={id} />
      </Text>
    </Stack>
  )
}

function Actions({ order, progress }: { order: Order; progress: OrderProgress }) {
  const { api } = useTeam()
  const canCancel = usePermission('cancel_order')
  const refresh = useOrderRefresh(order.id)
  const [isCancelling, { open, close }] = useDisclosure()
  const isCancellable = progress.next.some(({ low_level_status }) => low_level_status === 'cancelled')
  return (
    <>
      <CodeSamples request={{ method: 'GET', path: `/v3/order/${order.id}` }} />
      {canCancel && isCancellable && (
        <Button variant="default" onClick={open}>
          Cancel order
        </Button>
      )}
      <ConfirmDialog
        isOpen={isCancelling}
        onClose={close}
        title="Cancel the order"
        action="Cancel order"
        nameToType={order.id.slice(-4)}
        onConfirm={async () => {
          await api.POST('/v3/order/{order_id}/cancel', { params: { path: { order_id: order.id } } })
          await refresh()
        }}
      >
        <Text size="sm">
          The order ends and cannot be continued. Endpoints receive an event, and the patient a message if the team sends messages
          about cancelled orders.
        </Text>
      </ConfirmDialog>
    </>
  )
}

const TABS = ['results', 'documents', 'messages', 'events', 'access', 'json'] as const
/** In the page of another program are the parts that need no other page. */
const EMBEDDED_TABS: readonly (typeof TABS)[number][] = ['results', 'documents', 'messages']
const TAB_LABELS: Record<(typeof TABS)[number], string> = {
  results: 'Results',
  documents: 'Documents',
  messages: 'Messages',
  events: 'Events',
  access: 'Who looked',
  json: 'JSON',
}

function OrderTabs({ order, events }: { order: Order; events: Parameters<typeof OrderEvents>[0]['events'] }) {
  const [params, setParams] = useSearchParams()
  const tabs = useLaunch()?.modality === 'feature_embed' ? EMBEDDED_TABS : TABS
  const tab = tabs.find((name) => name === params.get('tab')) ?? 'results'
  const open = (name: string | null): void => setParams(name === null || name === 'results' ? {} : { tab: name })
  return (
    <Tabs value={tab} onChange={open} keepMounted={false}>
      <Tabs.List mb="md" className={classes.tabs}>
        {tabs.map((name) => (
          <Tabs.Tab key={name} value={name}>
            {TAB_LABELS[name]}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value="results">
        <OrderResults order={order} />
      </Tabs.Panel>
      <Tabs.Panel value="documents">
        <OrderDocuments order={order} />
      </Tabs.Panel>
      <Tabs.Panel value="messages">
        <OrderMessages order_id={order.id} />
      </Tabs.Panel>
      <Tabs.Panel value="events">
        <OrderEvents events={events} />
      </Tabs.Panel>
      <Tabs.Panel value="access">
        <OrderAccess order={order} />
      </Tabs.Panel>
      <Tabs.Panel value="json">
        <JsonView value={order} label="the order" />
      </Tabs.Panel>
    </Tabs>
  )
}
