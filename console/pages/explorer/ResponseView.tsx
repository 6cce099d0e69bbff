import { Accordion, Button, Code, Group, Stack, Text, Title } from '@mantine/core'
import { JsonView } from '../../components/JsonView.tsx'
import { saveFile } from '../../components/save-file.ts'
import { StatusBadge } from '../../components/StatusBadge.tsx'
import { toneOfStatus } from '../requests/requests-query.ts'
import type { ApiResponse } from './api-request.ts'
import classes from './OperationRun.module.css'

/** A response: status, time, headers and body. */
export function ResponseView({ response, name }: { response: ApiResponse; name: string }) {
  const { status, duration_ms, headers, json, file, bytes } = response
  return (
    <Stack gap="sm">
      <Group gap="sm">
        <Title order={2}>Response</Title>
        <output>
          <StatusBadge tone={toneOfStatus(status)}>{status}</StatusBadge>{' '}
          <Text span size="sm" c="dimmed">
            {duration_ms} ms, {bytes.toLocaleString()} bytes
          </Text>
        </output>
      </Group>
      <Accordion variant="separated" chevronPosition="left">
        <Accordion.Item value="headers">
          <Accordion.Control>
            <Text span size="sm">
              {headers.length} headers
            </Text>
          </Accordion.Control>
          <Accordion.Panel>
            <Code block className={classes.headers}>
              {headers.map(([header, value]) => `${header}: ${value}`).join('\n')}
            </Code>
          </Accordion.Panel>
        </Accordion.Item>
      </Accordion>
      {json !== undefined && <JsonView value={json} label="the response" />}
      {file && (
        <Group gap="sm">
          <Text size="sm">The body is {file.type || 'a file'}.</Text>
          <Button size="compact-sm" variant="default" onClick={() => saveFile(file, name)}>
            Save it
          </Button>
        </Group>
      )}
    </Stack>
  )
}
