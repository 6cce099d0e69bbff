DAY_S = 86_400


def order_draw(team):
    user = team.post("/v2/user", {"client_user_id": "patient-1"})
    lab_test = team.get("/v3/lab_tests?collection_method=walk_in_test")[0]
    return team.post(
        "/v3/order",
        {
            "user_id": user["user_id"],
            "lab_test_id": lab_test["id"],
            "patient_details": {
                "first_name": "Testa",
                "last_name": "Fictional",
                "dob": "1990-01-31",
                "gender": "female",
                "phone_number": "+15550100199",
                "email": "testa@example.com",
            },
            "patient_address": {
                "first_line": "1 Sample Way",
                "city": "Phoenix",
                "state": "AZ",
                "zip": "85004",
                "country": "US",
            },
        },
    )["order"]["id"]


def test_a_blood_draw_has_results_after_two_days(team):
    order_id = order_draw(team)
    team.post(f"/v3/order/{order_id}/test?delay=3600")
    team.advance(2 * DAY_S)
    event = team.wait_for_event(
        "labtest.order.updated",
        lambda body: body["data"]["last_event"]["status"] == "completed.walk_in_test.completed",
    )
    assert event["data"]["id"] == order_id
    assert team.get(f"/v3/order/{order_id}/result")["results"]


def test_teams_do_not_see_each_other(team):
    assert team.get("/v2/user")["total"] == 0
