obj.metadata.annotations = obj.metadata.annotations or {}
obj.metadata.annotations["weir.dev/reconcile-requested-at"] = os.date("!%Y-%m-%dT%XZ")
return obj
