import { Button, Group, Stack, Table, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { SystemTime } from '../../components/RelativeTime.tsx'
import { saveFile } from '../../components/save-file.ts'
import { ScrollRegion } from '../../components/ScrollRegion.tsx'
import { StatusBadge } from '../../components/StatusBadge.tsx'
import { useTeam } from '../../session/team.ts'
import { useResultDocuments, type Order, type ResultDocument } from './order-queries.ts'
import classes from './ResultDocuments.module.css'

/** The laboratory's own documents of the result, newest first, each with its state and its file. Nothing while there are none. */
export function ResultDocuments({ order }: { order: Order }) {
  const documents = useResultDocuments(order)
  const download = useDocumentDownload(order.id)
  if (documents.error) return <ErrorNotice error={documents.error} onRetry={() => void documents.refetch()} />
  if (!documents.data?.length) return null
  return (
    <Stack gap="sm">
      <Text fw={600} size="sm">
        Documents of the laboratory
      </Text>
      <ScrollRegion label="Documents of the laboratory">
        <Table miw={560} aria-label="Documents of the laboratory">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Received</Table.Th>
              <Table.Th>Document</Table.Th>
              <Table.Th>State</Table.Th>
              <Table.Th />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {documents.data.map((document) => (
              <Table.Tr key={document.id}>
                <Table.Td>
                  <SystemTime value={document.received_at} />
                </Table.Td>
                <Table.Td>
                  <DocumentName document={document} />
                </Table.Td>
                <Table.Td>
                  <DocumentState document={document} />
                </Table.Td>
                <Table.Td ta="right">
                  <Button
                    size="compact-sm"
                    variant="default"
                    disabled={download.isPending}
                    onClick={() => download.mutate(document.id)}
                  >
                    PDF ({sizeWords(document.bytes)})
                  </Button>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollRegion>
      {download.error && <ErrorNotice error={download.error} />}
    </Stack>
  )
}

function useDocumentDownload(order_id: string) {
  const { api } = useTeam()
  return useMutation({
    async mutationFn(document_id: string) {
      const response = await api.GET('/v3/order/{order_id}/result/documents/{document_id}', {
        params: { path: { order_id, document_id } },
        parseAs: 'blob',
      })
      saveFile(response.data!, `result-${document_id}.pdf`)
    },
  })
}

const DocumentName = ({ document: { name, code, report_number, test_code } }: { document: ResultDocument }) => (
  <>
    <Text size="sm" className={classes.text ?? ''}>
      {name ?? (code === null ? 'Uploaded by staff' : code)}
    </Text>
    {(report_number !== null || test_code !== null) && (
      <Text size="xs" c="dimmed" className={classes.text ?? ''}>
        {[report_number !== null && `report ${report_number}`, test_code !== null && `test ${test_code}`]
          .filter(Boolean)
          .join(', ')}
      </Text>
    )}
  </>
)

/** Whether the laboratory has reported since, so that results in the document may have been corrected. */
const DocumentState = ({ document: { is_of_latest_report, is_result_pdf } }: { document: ResultDocument }) => (
  <Group gap="sm">
    {is_of_latest_report ? (
      <StatusBadge tone="good">Of the latest report</StatusBadge>
    ) : (
      <StatusBadge tone="attention">Of an earlier report</StatusBadge>
    )}
    {is_result_pdf && (
      <Text span size="xs" c="dimmed">
        PDF of the result
      </Text>
    )}
  </Group>
)

const KB = 1000

const sizeWords = (bytes: number): string =>
  bytes < KB * KB ? `${Math.max(1, Math.round(bytes / KB))} kB` : `${(bytes / (KB * KB)).toFixed(1)} MB`
