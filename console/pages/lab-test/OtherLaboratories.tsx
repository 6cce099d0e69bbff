import { Group, Select, Stack, Table, Text, Title } from '@mantine/core'
import { skipToken, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { CodeSamples } from '../../components/CodeSamples.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { toWords } from '../../components/order-status.ts'
import { ScrollRegion } from '../../components/ScrollRegion.tsx'
import { useTeam } from '../../session/team.ts'
import type { Marker } from '../catalog/catalog-queries.ts'

type SearchBody = components['schemas']['SearchOrderableTests']
type TargetLab = SearchBody['target_lab']

/** Laboratories that the compendium compares. */
const TARGETS: readonly TargetLab[] = ['quest', 'labcorp', 'bioreference', 'sonora_quest']

/** The tests of another laboratory that measure the same. */
export function OtherLaboratories({ markers }: { markers: readonly Marker[] }) {
  const [target, setTarget] = useState<TargetLab | null>(null)
  const provider_ids = [...new Set(markers.flatMap(({ provider_id }) => provider_id ?? []))]
  const body = target && { provider_ids, target_lab: target, per_provider_limit: 1 }
  const candidates = useOrderableTests(body)
  return (
    <Stack gap="sm">
      <Title order={2}>At another laboratory</Title>
      <Group gap="sm">
        <Select
          aria-label="Other laboratory"
          placeholder="Choose a laboratory"
          data={TARGETS.map((value) => ({ value, label: toWords(value) }))}
          value={target}
          onChange={(value) => setTarget(value as TargetLab | null)}
          clearable
        />
        {body && <CodeSamples request={{ method: 'POST', path: '/v3/compendium/search_orderable_tests', body }} />}
      </Group>
      {candidates.error && <ErrorNotice error={candidates.error} onRetry={() => void candidates.refetch()} />}
      {candidates.data && (
        <ScrollRegion label="At another laboratory">
          <Table miw={560} aria-label="At another laboratory" verticalSpacing={6}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Marker</Table.Th>
                <Table.Th>Code there</Table.Th>
                <Table.Th>Name there</Table.Th>
                <Table.Th>Measures</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {markers.map(({ id, name, provider_id }) => {
                const [best] = candidates.data.candidates[provider_id ?? ''] ?? []
                return (
                  <Table.Tr key={id}>
                    <Table.Td>{name}</Table.Td>
                    <Table.Td>{best?.provider_id}</Table.Td>
                    <Table.Td>
                      {best?.name ?? (
                        <Text c="dimmed" size="sm">
                          nothing that measures the same
                        </Text>
                      )}
                    </Table.Td>
                    <Table.Td>{best && toWords(best.relation)}</Table.Td>
                  </Table.Tr>
                )
              })}
            </Table.Tbody>
          </Table>
        </ScrollRegion>
      )}
    </Stack>
  )
}

function useOrderableTests(body: SearchBody | null) {
  const { api, key } = useTeam()
  return useQuery({
    queryKey: [...key, 'orderable tests of', body],
    queryFn: body ? ({ signal }) => dataOf(api.POST('/v3/compendium/search_orderable_tests', { body, signal })) : skipToken,
  })
}
