import { Button, Group, Stack } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { usePermission } from '../../session/permissions.ts'
import { useTeam } from '../../session/team.ts'
import { saveFile } from '../../components/save-file.ts'
import type { Order } from './order-queries.ts'
import { ResultDocuments } from './ResultDocuments.tsx'

/** The documents of the order, as files. The server says of each why it is not there yet. */
export function OrderDocuments({ order }: { order: Order }) {
  const { api } = useTeam()
  const permitted = {
    requisition: usePermission('get_order_requisition_url'),
    result: usePermission('get_lab_test_result'),
    labels: usePermission('get_order_labels'),
  }
  const path = { order_id: order.id }
  const download = useMutation({
    async mutationFn(kind: keyof typeof permitted) {
      const blob = await readDocument(kind)
      saveFile(blob, `${kind}-${order.id}.pdf`)
    },
  })
  async function readDocument(kind: keyof typeof permitted): Promise<Blob> {
    const parseAs = 'blob' as const
    if (kind === 'requisition')
      return (await api.GET('/v3/order/{order_id}/requisition/pdf', { params: { path }, parseAs })).data!
    if (kind === 'result') return (await api.GET('/v3/order/{order_id}/result/pdf', { params: { path }, parseAs })).data!
    const query = { collection_date: new Date().toISOString() }
    return (await api.GET('/v3/order/{order_id}/labels/pdf', { params: { path, query }, parseAs })).data!
  }
  return (
    <Stack gap="md">
      <Group gap="sm">
        {permitted.requisition && (
          <DocumentButton label="Requisition" onClick={() => download.mutate('requisition')} isDisabled={download.isPending} />
        )}
        {permitted.result && (
          <DocumentButton label="Result" onClick={() => download.mutate('result')} isDisabled={download.isPending} />
        )}
        {permitted.labels && (
          <DocumentButton label="Specimen labels" onClick={() => download.mutate('labels')} isDisabled={download.isPending} />
        )}
      </Group>
      {download.error && <ErrorNotice error={download.error} />}
      <ResultDocuments order={order} />
    </Stack>
  )
}

const DocumentButton = (props: { label: string; onClick: () => void; isDisabled: boolean }) => (
  <Button variant="default" onClick={props.onClick} disabled={props.isDisabled}>
    {props.label} (PDF)
  </Button>
)
