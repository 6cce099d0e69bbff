import { Accordion, Code, Group, Stack, Text, Title } from '@mantine/core'
import type { components } from '../api/schema.d.ts'
import classes from './DeliveryAttempts.module.css'
import { IdText } from './IdText.tsx'
import { SystemTime } from './RelativeTime.tsx'
import { StatusBadge } from './StatusBadge.tsx'

/** An attempt to deliver a message; of several destinations each attempt names its own. */
type DeliveryAttempt = components['schemas']['WebhookAttempt'] & { destination_id?: string }

/** Every attempt to deliver a message, newest first: what was sent, what came back, and how long it took. */
export const DeliveryAttempts = ({ attempts }: { attempts: readonly DeliveryAttempt[] }) => (
  <Stack gap="sm">
    <Title order={2}>Attempts</Title>
    <Accordion variant="separated" chevronPosition="left">
      {attempts.map((attempt) => (
        <Accordion.Item key={attempt.id} value={attempt.id}>
          <Accordion.Control>
            <Group gap="sm">
              <StatusBadge tone={attempt.succeeded ? 'good' : 'failed'}>{attempt.response_status ?? 'no response'}</StatusBadge>
              <Text span size="sm">
                {attempt.duration_ms} ms
              </Text>
              <Text span size="sm" c="dimmed">
                <SystemTime value={attempt.at} />
                {attempt.trigger === 'manual' && ', resent'}
              </Text>
            </Group>
          </Accordion.Control>
          <Accordion.Panel>
            <AttemptDetails attempt={attempt} />
          </Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  </Stack>
)

const AttemptDetails = ({ attempt }: { attempt: DeliveryAttempt }) => (
  <Stack gap="sm">
    {attempt.destination_id !== undefined && (
      <Text size="sm">
        Destination <IdText id={attempt.destination_id} />
      </Text>
    )}
    {attempt.error !== null && <Text size="sm">{attempt.error}</Text>}
    <Text size="sm" fw={600}>
      Headers of the request
    </Text>
    <Code block className={classes.text}>
      {Object.entries(attempt.request_headers)
        .map(([name, value]) => `${name}: ${value}`)
        .join('\n')}
    </Code>
    {attempt.response_body !== '' && (
      <>
        <Text size="sm" fw={600}>
          Body of the response
        </Text>
        <Code block className={classes.text}>
          {attempt.response_body}
        </Code>
      </>
    )}
  </Stack>
)
