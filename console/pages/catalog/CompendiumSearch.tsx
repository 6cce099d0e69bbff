import { Anchor, Group, List, Skeleton, Stack, Table, Text, TextInput, Title } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useState } from 'react'
import { Link, useSearchParams } from 'react-router'
import { CodeSamples } from '../../components/CodeSamples.tsx'
import { Delayed } from '../../components/Delayed.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { toWords } from '../../components/order-status.ts'
import { ScrollRegion } from '../../components/ScrollRegion.tsx'
import { StatusBadge } from '../../components/StatusBadge.tsx'
import type { Tone } from '../../theme.ts'
import { useLabs } from './catalog-queries.ts'
import { toSearchBody, useCompendium, type Canonical, type PerLab } from './compendium-queries.ts'

const SEARCH_DELAY_MS = 300

/** What a name, synonym, LOINC or code is at each laboratory. The search is in the address: it names measurements, not patients. */
export function CompendiumSearch() {
  const [params, setParams] = useSearchParams()
  const text = params.get('q') ?? ''
  const hash = params.get('set') ?? ''
  const [typed, setTyped] = useState(text)
  const search = useDebouncedCallback((query: string) => setParams(query ? { q: query } : {}, { replace: true }), SEARCH_DELAY_MS)
  const { data, error, isPending, refetch } = useCompendium(text, hash)
  const isAsked = text !== '' || hash !== ''
  return (
    <Stack gap="lg">
      <Group justify="space-between" gap="sm">
        <TextInput
          aria-label="Search all laboratories"
          placeholder="Name, synonym, LOINC or code"
          value={typed}
          onChange={(event) => {
            setTyped(event.currentTarget.value)
            search(event.currentTarget.value.trim())
          }}
          w={360}
          maw="100%"
        />
        {isAsked && <CodeSamples request={{ method: 'POST', path: '/v3/compendium/search', body: toSearchBody(text, hash) }} />}
      </Group>
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {!isAsked && (
        <EmptyState title="Search all laboratories">
          Laboratories have codes of their own for the same measurement. A search finds it at each of them, for example thyroid
          panel, 4548-4 or Q55122.
        </EmptyState>
      )}
      {isAsked && isPending && !error && (
        <Delayed>
          <Skeleton height={240} />
        </Delayed>
      )}
      {isAsked && data && !data.selected_canonical && (
        <EmptyState title="Nothing matches">Search for a part of a name, or for a whole code.</EmptyState>
      )}
      {isAsked && data?.selected_canonical && (
        <>
          <Selected canonical={data.selected_canonical} />
          <Laboratories perLab={data.per_lab} />
          <Others
            candidates={[...data.canonical_candidates, ...data.related.map(({ canonical }) => canonical)].filter(
              ({ loinc_set_hash }, index, candidates) =>
                loinc_set_hash !== data.selected_canonical?.loinc_set_hash &&
                candidates.findIndex((candidate) => candidate.loinc_set_hash === loinc_set_hash) === index,
            )}
            text={text}
          />
        </>
      )}
    </Stack>
  )
}

const Selected = ({ canonical: { display_name, aliases, loinc_codes, cpt_codes } }: { canonical: Canonical }) => (
  <Stack gap="xs">
    <Title order={2}>{display_name}</Title>
    <Text size="sm" c="dimmed">
      LOINC {loinc_codes.join(', ')}
      {cpt_codes.length > 0 && ` · CPT ${cpt_codes.join(', ')}`}
    </Text>
    {aliases.length > 0 && <Text size="sm">Also {aliases.join(', ')}</Text>}
  </Stack>
)

const TONES: Record<PerLab['relation'], Tone> = {
  exact: 'good',
  superset: 'progress',
  subset: 'attention',
  overlap: 'attention',
  suggested: 'neutral',
}
const RELATIONS: Record<PerLab['relation'], string> = {
  exact: 'The same',
  superset: 'And more',
  subset: 'A part of it',
  overlap: 'In part',
  suggested: 'Similar name',
}

function Laboratories({ perLab }: { perLab: Record<string, PerLab[]> }) {
  const labs = useLabs().data
  const rows = Object.entries(perLab).flatMap(([slug, candidates]) => candidates.map((candidate) => ({ slug, candidate })))
  const missing = Object.entries(perLab).filter(([, candidates]) => !candidates.length)
  const nameOf = (slug: string): string => labs?.find((lab) => lab.slug === slug)?.name ?? toWords(slug)
  return (
    <Stack gap="sm">
      <Title order={2}>At the laboratories</Title>
      <ScrollRegion label="At the laboratories">
        <Table miw={720} aria-label="At the laboratories" verticalSpacing={6}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Laboratory</Table.Th>
              <Table.Th>Name there</Table.Th>
              <Table.Th>Code</Table.Th>
              <Table.Th miw={120}>Measures</Table.Th>
              <Table.Th>LOINC</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map(({ slug, candidate }) => (
              <Table.Tr key={`${slug} ${candidate.marker_id}`}>
                <Table.Td>{nameOf(slug)}</Table.Td>
                <Table.Td>{candidate.name}</Table.Td>
                <Table.Td>{candidate.provider_id}</Table.Td>
                <Table.Td>
                  <StatusBadge tone={TONES[candidate.relation]}>{RELATIONS[candidate.relation]}</StatusBadge>
                </Table.Td>
                <Table.Td>{candidate.loinc_codes.join(', ')}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollRegion>
      {missing.length > 0 && (
        <Text size="sm" c="dimmed">
          Not at {missing.map(([slug]) => nameOf(slug)).join(', ')}
        </Text>
      )}
    </Stack>
  )
}

/** Sets of LOINC codes that a text may mean as well, or that have codes in common. */
function Others({ candidates, text }: { candidates: readonly Canonical[]; text: string }) {
  if (!candidates.length) return null
  return (
    <Stack gap="sm">
      <Title order={2}>Similar</Title>
      <List size="sm">
        {candidates.map(({ loinc_set_hash, display_name, loinc_codes }) => (
          <List.Item key={loinc_set_hash}>
            <Anchor component={Link} to={`?${new URLSearchParams({ ...(text && { q: text }), set: loinc_set_hash })}`} size="sm">
              {display_name}
            </Anchor>
            <Text size="xs" c="dimmed">
              LOINC {loinc_codes.join(', ')}
            </Text>
          </List.Item>
        ))}
      </List>
    </Stack>
  )
}
