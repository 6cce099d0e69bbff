import { ActionIcon, Button, Checkbox, Group, Menu, Modal, Stack, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate, useSearchParams } from 'react-router'
import { dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { ErrorNotice } from '../../components/ErrorNotice.tsx'
import { Icon } from '../../components/Icon.tsx'
import { usePermission } from '../../session/permissions.ts'
import { useTeam } from '../../session/team.ts'

type SavedView = components['schemas']['SavedView']
type ViewPage = SavedView['page']

/** Filters and columns of a page by name: opened from a menu, saved from the address. */
export function SavedViews({ page }: { page: ViewPage }) {
  const { api, key } = useTeam()
  const canSave = usePermission('create_saved_view')
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const [isSaving, { open, close }] = useDisclosure()
  const queryKey = [...key, 'saved views', page]
  const { data } = useQuery({
    queryKey,
    queryFn: ({ signal }) => dataOf(api.GET('/console/v1/saved_views', { params: { query: { page } }, signal })),
  })
  const removal = useMutation({
    mutationFn: (view_id: string) => api.DELETE('/console/v1/saved_views/{view_id}', { params: { path: { view_id } } }),
    onSettled: () => queryClient.invalidateQueries({ queryKey }),
  })
  const views = data?.data ?? []
  return (
    <>
      <Menu position="bottom-end" withinPortal>
        <Menu.Target>
          <Button variant="default">Views</Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>{views.length ? 'Saved views' : 'No saved views'}</Menu.Label>
          {views.map((view) => (
            <Group key={view.id} gap={0} wrap="nowrap">
              <Menu.Item onClick={() => void navigate({ search: view.query })}>{viewLabel(view)}</Menu.Item>
              {canSave && (
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label={`Delete the view ${view.name}`}
                  onClick={() => removal.mutate(view.id)}
                >
                  <Icon name="close" size={14} />
                </ActionIcon>
              )}
            </Group>
          ))}
          {canSave && (
            <>
              <Menu.Divider />
              <Menu.Item onClick={open}>Save this view</Menu.Item>
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      <Modal opened={isSaving} onClose={close} title="Save this view" closeButtonProps={{ 'aria-label': 'Close' }}>
        <SaveView page={page} onSaved={close} onChange={() => queryClient.invalidateQueries({ queryKey })} />
      </Modal>
    </>
  )
}

const viewLabel = ({ name, is_shared }: SavedView): string => (is_shared ? `${name} (shared)` : name)

interface SaveViewProps {
  page: ViewPage
  onSaved: () => void
  onChange: () => Promise<void>
}

function SaveView({ page, onSaved, onChange }: SaveViewProps) {
  const { api } = useTeam()
  const [params] = useSearchParams()
  const [name, setName] = useState('')
  const [isShared, setShared] = useState(false)
  const saving = useMutation({
    mutationFn: () =>
      api.POST('/console/v1/saved_views', { body: { page, name, query: params.toString(), is_shared: isShared } }),
    onSuccess: async () => {
      await onChange()
      onSaved()
    },
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        saving.mutate()
      }}
    >
      <Stack gap="md">
        <TextInput label="Name" required maxLength={80} value={name} onChange={(event) => setName(event.currentTarget.value)} />
        <Checkbox
          label="Every member of the team sees it"
          checked={isShared}
          onChange={(event) => setShared(event.currentTarget.checked)}
        />
        {saving.error && <ErrorNotice error={saving.error} />}
        <Group justify="flex-end">
          <Button type="submit" disabled={!name.trim()} loading={saving.isPending}>
            Save view
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
