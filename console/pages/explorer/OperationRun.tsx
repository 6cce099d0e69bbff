import { Button, Group, SimpleGrid, Stack, Text, Textarea, Title } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { ApiError, unreachableError } from '../../api/api-error.ts'
import { CodeSamples } from '../../components/CodeSamples.tsx'
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { useTeam } from '../../session/team.ts'
import { useRefusals } from './allowed-runs.ts'
import type { ApiOperation } from './operations.ts'
import {
  bodyError,
  firstRequest,
  missingParameters,
  scopeValue,
  sendRequest,
  toSample,
  toSdkCode,
  valueKey,
  type ApiRequest,
} from './api-request.ts'
import { ParameterField } from './ParameterField.tsx'
import { ResponseView } from './ResponseView.tsx'
import classes from './OperationRun.module.css'

/** The form of one operation, and what it answered. */
export function OperationRun({ operation }: { operation: ApiOperation }) {
  const scope = useTeam()
  const [request, setRequest] = useState(() => firstRequest(operation, scope))
  const refusal = useRefusals()(operation)
  const run = useRun()
  return (
    <Stack gap="lg">
      <Stack gap={4}>
        <Group justify="space-between" gap="sm">
          <Title order={2} className={classes.path}>
            {operation.method} {operation.path}
          </Title>
          <CodeSamples
            request={toSample(operation, request.values, request.body)}
            keyKind={operation.keyKind}
            sdkCode={toSdkCode(operation, request.values, request.body)}
          />
        </Group>
        <Text size="sm">{operation.summary}</Text>
        {operation.description !== undefined && (
          <Text size="sm" c="dimmed">
            {operation.description}
          </Text>
        )}
      </Stack>
      <RequestForm request={request} onChange={setRequest} refusal={refusal} run={run} />
      {run.error && <ErrorNotice error={run.error} />}
      {run.data && <ResponseView response={run.data} name={operation.id} />}
    </Stack>
  )
}

type Run = ReturnType<typeof useRun>

/** Sends a request. What it answers is in no cache. */
function useRun() {
  const scope = useTeam()
  const controller = useRef<AbortController>(undefined)
  const run = useMutation({
    gcTime: 0,
    async mutationFn(request: ApiRequest) {
      controller.current = new AbortController()
      try {
        return await sendRequest(request, scope, controller.current.signal)
      } catch (error) {
        // A request that was cancelled is nobody's error.
        if (controller.current.signal.aborted) return null
        throw describeError(error, request.operation)
      }
    },
  })
  return { ...run, cancel: () => controller.current?.abort() }
}

function describeError(error: unknown, { method, path }: ApiOperation): unknown {
  if (error instanceof TypeError) return unreachableError(`${method} ${path}`)
  return error instanceof DOMException && error.name === 'TimeoutError'
    ? new ApiError({
        status: 0,
        detail: 'No response came in time',
        fields: [],
        request_id: undefined,
        operation: `${method} ${path}`,
      })
    : error
}

interface RequestFormProps {
  request: ApiRequest
  onChange: (request: ApiRequest) => void
  /** Why the operation is not run here. */
  refusal: string | undefined
  run: Run
}

function RequestForm({ request, onChange, refusal, run }: RequestFormProps) {
  const { operation, body } = request
  const [confirmed, setConfirmed] = useState<ApiRequest>()
  const [isConfirming, setConfirming] = useState(false)
  const missing = missingParameters(request)
  const fault = bodyError(body)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (operation.method === 'GET') return run.mutate(request)
        setConfirmed(request)
        setConfirming(true)
      }}
    >
      <Stack gap="md">
        {operation.parameters.length > 0 && <ParameterFields request={request} onChange={onChange} />}
        {operation.exampleBody !== undefined && (
          <Textarea
            label="Body"
            classNames={{ input: classes.body }}
            autosize
            minRows={4}
            maxRows={24}
            spellCheck={false}
            value={body}
            onChange={(event) => onChange({ ...request, body: event.currentTarget.value })}
            error={fault}
          />
        )}
        <Group gap="sm">
          <Button
            type="submit"
            disabled={refusal !== undefined || missing.length > 0 || fault !== undefined}
            loading={run.isPending}
          >
            Run
          </Button>
          {run.isPending && (
            <Button variant="default" onClick={run.cancel}>
              Cancel
            </Button>
          )}
          <Text size="sm" c="dimmed">
            {refusal ?? (missing.length > 0 && `Needs ${missing.map(({ name }) => name).join(', ')}.`)}
          </Text>
        </Group>
      </Stack>
      {confirmed && (
        <RunConfirmation
          request={confirmed}
          isOpen={isConfirming}
          onClose={() => setConfirming(false)}
          onConfirm={() => run.mutate(confirmed)}
        />
      )}
    </form>
  )
}

function ParameterFields({ request, onChange }: Pick<RequestFormProps, 'request' | 'onChange'>) {
  const scope = useTeam()
  const { operation, values } = request
  return (
    <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="sm">
      {operation.parameters.map((parameter) => (
        <ParameterField
          key={valueKey(parameter)}
          parameter={parameter}
          values={values[valueKey(parameter)] ?? []}
          isFixed={parameter.in === 'path' && scopeValue(parameter, scope) !== undefined}
          onChange={(next) => onChange({ ...request, values: { ...values, [valueKey(parameter)]: next } })}
        />
      ))}
    </SimpleGrid>
  )
}

interface RunConfirmationProps {
  request: ApiRequest
  isOpen: boolean
  onClose: () => void
  onConfirm: () => void
}

/** Says what a change will do, and asks for the name of an operation that deletes. */
function RunConfirmation({ request: { operation, values }, isOpen, onClose, onConfirm }: RunConfirmationProps) {
  const { team } = useTeam()
  const { path } = toSample(operation, values)
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={onClose}
      title={operation.summary}
      action="Run operation"
      {...(operation.method === 'DELETE' && { nameToType: operation.id })}
      onConfirm={async () => onConfirm()}
    >
      <Text size="sm" className={classes.path}>
        Sends {operation.method} {path} to the sandbox of {team.name}, as you. It changes what is stored there, and may send
        events.
      </Text>
    </ConfirmDialog>
  )
}
