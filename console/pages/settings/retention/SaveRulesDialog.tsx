import { List, Stack, Text } from '@mantine/core'
import { ConfirmDialog } from '../../../components/ConfirmDialog.tsx'
import { toWords } from '../../../components/order-status.ts'
import { useTeam } from '../../../session/team.ts'
import { useSetRetention, type RetentionPreview, type RetentionRule } from './retention-queries.ts'

interface SaveRulesDialogProps {
  isOpen: boolean
  onClose: () => void
  onSaved: () => void
  rules: RetentionRule[]
  /** What these rules would delete. */
  preview: RetentionPreview
}

/** Says what the rules will delete, and saves them. Data that is deleted does not come back, so the name of the team must be typed then. */
export function SaveRulesDialog({ isOpen, onClose, onSaved, rules, preview }: SaveRulesDialogProps) {
  const { team, environment } = useTeam()
  const save = useSetRetention()
  const deletes = preview.data.length > 0 || !preview.is_complete
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={onClose}
      title="Save the rules"
      action={deletes ? 'Delete and save' : 'Save rules'}
      {...(deletes && { nameToType: team.name })}
      onConfirm={async () => {
        await save(rules)
        onSaved()
      }}
    >
      {deletes ? (
        <WhatIsDeleted preview={preview} environment={environment} />
      ) : (
        <Text size="sm">
          Nothing of the {environment} is deleted now. Data is deleted from then on when it becomes older, and such data is
          dropped when it arrives.
        </Text>
      )}
    </ConfirmDialog>
  )
}

function WhatIsDeleted({ preview, environment }: { preview: RetentionPreview; environment: string }) {
  const { data, users, is_complete } = preview
  return (
    <Stack gap="sm">
      <Text size="sm">
        In the {environment} this is deleted within about an hour and does not come back, and older data that arrives later is
        dropped:
      </Text>
      <List size="sm">
        {data
          .toSorted((a, b) => b.count - a.count)
          .map(({ resource, count, first_day, last_day }) => (
            <List.Item key={resource}>
              {toWords(resource)}: {count.toLocaleString()}, from {first_day} to {last_day}
            </List.Item>
          ))}
      </List>
      <Text size="xs" c="dimmed">
        {is_complete
          ? `Counted: summaries, streams, and hours with samples, of ${users.toLocaleString()} ${users === 1 ? 'user' : 'users'}.`
          : `More than this: only the data of the first ${users.toLocaleString()} users was counted, up to a limit.`}
      </Text>
    </Stack>
  )
}
