import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { dataOf, type Api } from '../../api/client.ts'
import { useTeam } from '../../session/team.ts'
import type { AoeAnswer } from './answers.ts'
import { EMPTY_FORM, fromDemographics, toOrder, type OrderForm } from './order-form.ts'

const TESTS_MAX = 100

/** The tests that the team can order now. */
export function useOrderableTests() {
  const { api, key } = useTeam()
  return useQuery({
    queryKey: [...key, 'orderable tests'],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/v3/lab_test', { params: { query: { status: 'active', lab_test_limit: TESTS_MAX } }, signal })),
  })
}

/** The form of an order for a user: with the newest demographics, if there are any. */
export function useFormOfUser(user_id: string) {
  const { api, key } = useTeam()
  return useQuery({
    queryKey: [...key, 'user', user_id, 'order form'],
    // What was typed stays.
    staleTime: Infinity,
    async queryFn({ signal }): Promise<OrderForm> {
      try {
        return fromDemographics(
          await dataOf(api.GET('/v2/user/{user_id}/info/latest', { params: { path: { user_id } }, signal })),
        )
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return EMPTY_FORM
        throw error
      }
    },
  })
}

export interface OrderToPlace {
  form: OrderForm
  aoe_answers: AoeAnswer[]
}

export interface PlacedOrder {
  order_id: string
  user_id: string
}

/**
 * Places the order for a user, or for the user of the reference, who is created if there is none. The same form sent again after a lost
 * response places no second order: its idempotency key stays.
 */
export function usePlaceOrder(known_user_id: string | undefined, onPlaced: (order: PlacedOrder) => void) {
  const { api, key } = useTeam()
  const queryClient = useQueryClient()
  const idempotencyKey = useRef(crypto.randomUUID())
  return useMutation({
    async mutationFn({ form, aoe_answers }: OrderToPlace) {
      const user_id = known_user_id ?? (await findOrCreateUser(api, form.client_user_id))
      const header = { 'X-Idempotency-Key': idempotencyKey.current }
      const body = toOrder(form, user_id, aoe_answers)
      const { order } = await dataOf(api.POST('/v3/order', { params: { header }, body }))
      return { order_id: order.id, user_id }
    },
    async onSuccess(order) {
      await queryClient.invalidateQueries({ queryKey: [...key, 'orders'] })
      onPlaced(order)
    },
    onError(error) {
      // A corrected form is another request. Without a response the order may have been placed.
      if (error instanceof ApiError && error.status >= 400 && error.status < 500) idempotencyKey.current = crypto.randomUUID()
    },
  })
}

async function findOrCreateUser(api: Api, client_user_id: string): Promise<string> {
  try {
    return (await dataOf(api.POST('/v2/user', { body: { client_user_id } }))).user_id
  } catch (error) {
    if (!(error instanceof ApiError) || (error.status !== 409 && error.status !== 400)) throw error
    const path = { client_user_id }
    return (await dataOf(api.GET('/v2/user/resolve/{client_user_id}', { params: { path } }))).user_id
  }
}
