import { Text } from '@mantine/core'
import type { components } from '../../api/schema.d.ts'
import { WorkList } from './WorkList.tsx'

type Preview = components['schemas']['ClockPreview']

/** What becomes due, by kind and count. */
export function DueWork({ preview }: { preview: Preview }) {
  if (!preview.data.length) return <Text>Nothing becomes due until then.</Text>
  return (
    <>
      <WorkList jobs={preview.data} />
      <Text size="xs" c="dimmed">
        {preview.is_complete
          ? 'These jobs may create further jobs before the target.'
          : 'There is more; only the first are counted.'}
      </Text>
    </>
  )
}
