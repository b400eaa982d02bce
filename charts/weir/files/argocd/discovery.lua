-- The actions of a resource in its present state. Only a Connector can be started and stopped.
local actions = { reconcile = { disabled = false } }
if obj.kind == "Connector" then
  local state = obj.spec.state or "Running"
  local tasks = (obj.status ~= nil and obj.status.tasks) or {}
  actions["restart"] = { disabled = state ~= "Running" }
  actions["restart-failed"] = { disabled = state ~= "Running" or (tasks.failed or 0) == 0 }
  actions["pause"] = { disabled = state == "Paused" }
  actions["resume"] = { disabled = state == "Running" }
  actions["stop"] = { disabled = state == "Stopped" }
end
return actions
