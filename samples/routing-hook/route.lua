-- Routes by the words of the customer. Where none is known the model of `front` decides.

local routes = {
  {agent = "billing", pattern = [[(?i)\b(refund|invoice|charged)]]},
  {agent = "tech", pattern = [[(?i)\b(crash|error|login)]]},
}

function create(ctx)
  for _, route in ipairs(routes) do
    if matches(ctx.input, route.pattern) then
      return {transfer = {agent = route.agent}}
    end
  end
end
