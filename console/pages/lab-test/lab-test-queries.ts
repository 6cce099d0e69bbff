// What the page of a lab test reads.
import { skipToken, useQuery, useQueryClient } from '@tanstack/react-query'
import { dataOf } from '../../api/client.ts'
import { useTeam } from '../../session/team.ts'

/** The most that a request returns; the largest tests have some dozens. */
const MARKERS_MAX = 100

const useLabTestKey = (lab_test_id: string) => [...useTeam().key, 'lab test', lab_test_id] as const

/** A lab test with its markers; reads nothing without an id. */
export function useLabTest(lab_test_id: string) {
  const { api } = useTeam()
  return useQuery({
    queryKey: [...useLabTestKey(lab_test_id), 'test'],
    queryFn: lab_test_id
      ? ({ signal }) => dataOf(api.GET('/v3/lab_tests/{lab_test_id}', { params: { path: { lab_test_id } }, signal }))
      : skipToken,
  })
}

/** The markers of a test, with what the laboratory reports and asks for each, and the reflex markers. */
export function useMarkersOfTest(lab_test_id: string) {
  const { api } = useTeam()
  return useQuery({
    queryKey: [...useLabTestKey(lab_test_id), 'markers'],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET('/v3/lab_tests/{lab_test_id}/markers', {
          params: { path: { lab_test_id }, query: { size: MARKERS_MAX } },
          signal,
        }),
      ),
  })
}

/** A function that reads the test and the lists again after it was changed here. */
export function useLabTestRefresh(lab_test_id: string): () => Promise<void> {
  const queryClient = useQueryClient()
  const { key } = useTeam()
  const testKey = useLabTestKey(lab_test_id)
  return async () => {
    await queryClient.invalidateQueries({ queryKey: testKey })
    await queryClient.invalidateQueries({ queryKey: [...key, 'lab tests'], refetchType: 'none' })
  }
}
