import { Anchor, Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { Link } from 'react-router'
import { ApiError } from '../../api/api-error.ts'
import { dataOf } from '../../api/client.ts'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { SecretText } from '../../components/SecretText.tsx'
import { useTeam } from '../../session/team.ts'
import { EMPTY_FORM, toBody, type EndpointForm } from './endpoint-form.ts'
import { EndpointFields } from './EndpointFields.tsx'
import { useEndpointScope } from './endpoint-queries.ts'

interface CreateEndpointProps {
  isOpen: boolean
  onClose: () => void
}

/** Adds an endpoint, and then shows its signing secret. */
export const CreateEndpoint = ({ isOpen, onClose }: CreateEndpointProps) => (
  <Modal opened={isOpen} onClose={onClose} title="Add an endpoint" closeButtonProps={{ 'aria-label': 'Close' }} size="lg">
    <Creation onClose={onClose} />
  </Modal>
)

/** The content, which starts empty each time the dialog opens. */
function Creation({ onClose }: Pick<CreateEndpointProps, 'onClose'>) {
  const { pathTo } = useTeam()
  const [form, setForm] = useState(EMPTY_FORM)
  const creation = useCreateEndpoint()
  if (creation.data)
    return (
      <Stack gap="md">
        <Text component="output">
          The endpoint is added. Your program checks each event with its signing secret, by the headers <code>webhook-id</code>,{' '}
          <code>webhook-timestamp</code> and <code>webhook-signature</code>.
        </Text>
        <SecretText secret={creation.data.secret} label="the signing secret" />
        <Group justify="space-between">
          <Anchor component={Link} to={pathTo(`events/endpoints/${creation.data.id}`)}>
            Open the endpoint
          </Anchor>
          <Button onClick={onClose}>Close</Button>
        </Group>
      </Stack>
    )
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        creation.mutate(form)
      }}
    >
      <Stack gap="md">
        <EndpointFields form={form} onChange={setForm} error={creation.error} />
        {creation.error && <ErrorNotice error={creation.error} />}
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={creation.isPending} disabled={!form.url.trim()}>
            Add endpoint
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** Creates an endpoint and reads its secret. The same form sent again after a lost response creates no second one. */
function useCreateEndpoint() {
  const { api, key } = useTeam()
  const path = useEndpointScope()
  const queryClient = useQueryClient()
  const idempotencyKey = useRef(crypto.randomUUID())
  return useMutation({
    gcTime: 0,
    async mutationFn(form: EndpointForm) {
      const header = { 'X-Idempotency-Key': idempotencyKey.current }
      const { id } = await dataOf(
        api.POST('/v1/org/{org_id}/team/{team_id}/{environment}/webhook', { params: { path, header }, body: toBody(form) }),
      )
      const secret = await dataOf(
        api.GET('/v1/org/{org_id}/team/{team_id}/{environment}/webhook/{webhook_id}/secret', {
          params: { path: { ...path, webhook_id: id } },
        }),
      )
      return { id, secret: secret.key }
    },
    onSuccess: () => queryClient.invalidateQueries({ queryKey: [...key, 'endpoints'] }),
    onError(error) {
      // A corrected form is another request. Without a response the endpoint may have been created.
      if (error instanceof ApiError && error.status >= 400 && error.status < 500) idempotencyKey.current = crypto.randomUUID()
    },
  })
}
