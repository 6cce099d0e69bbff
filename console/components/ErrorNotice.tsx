import { Button, Code, CopyButton, Group, List, Stack, Text } from '@mantine/core'
import { ApiError } from '../api/api-error.ts'
import classes from './ErrorNotice.module.css'

interface ErrorNoticeProps {
  error: Error
  /** Shows a button that calls it. */
  onRetry?: () => void
}

/** An error as the API gave it, with what support needs to find the request. It shows no data of patients. */
export function ErrorNotice({ error, onRetry }: ErrorNoticeProps) {
  const problem = error instanceof ApiError ? error : undefined
  return (
    <Stack role="alert" gap="sm" className={classes.notice}>
      <Group gap="sm" wrap="nowrap" align="baseline">
        {problem !== undefined && problem.status > 0 && <Code>{problem.status}</Code>}
        <Text fw={600}>{problem?.detail ?? 'This page failed to load its data'}</Text>
      </Group>
      {problem !== undefined && problem.fields.length > 0 && (
        <List size="sm">
          {problem.fields.map(({ field, message }) => (
            <List.Item key={`${field} ${message}`}>
              <Code>{field}</Code> {message}
            </List.Item>
          ))}
        </List>
      )}
      <Group gap="sm">
        {onRetry && (
          <Button size="xs" variant="default" onClick={onRetry}>
            Try again
          </Button>
        )}
        {problem && (
          <CopyButton value={supportText(problem)}>
            {({ copied, copy }) => (
              <Button size="xs" variant="subtle" onClick={copy}>
                {copied ? 'Copied' : 'Copy for support'}
              </Button>
            )}
          </CopyButton>
        )}
      </Group>
    </Stack>
  )
}

/** What identifies a request: no values of it, since they may be about patients. */
const supportText = ({ operation, status, request_id, occurred_at }: ApiError): string =>
  [
    `operation: ${operation}`,
    `status: ${status || 'no response'}`,
    `request id: ${request_id ?? 'none'}`,
    `time: ${occurred_at.toISOString()}`,
  ].join('\n')
